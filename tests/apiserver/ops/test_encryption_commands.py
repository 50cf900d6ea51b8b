"""Encryption at rest by command: turn it on, rotate keys, turn it off, be killed at it, and leak no key."""

from __future__ import annotations

import base64
import contextlib
import os
import pathlib
import subprocess
import time

import pytest

from tests.support.apiserver.servers import CONFIG_MAPS, CROSSPLY, Program, config_map, events
from tests.support.programs import needs

CANARY = "canary-in-the-coal-mine"
ENCODED = base64.b64encode(CANARY.encode())
SECRETS = "/api/v1/namespaces/default/secrets"
CONFIGURATION = """\
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [secrets, configmaps]
    providers:
      - aesgcm:
          keys:
            - name: key1
              secret: {secret}
      - identity: {{}}
"""


def new_key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


def private_file(path: pathlib.Path, text: str) -> str:
    path.touch(0o600)
    path.write_text(text)
    return str(path)


def secret(name: str, size: int = 0) -> dict[str, object]:
    data = {"password": ENCODED.decode(), "more": base64.b64encode(os.urandom(size)).decode()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data}


def is_anywhere(directory: pathlib.Path, text: bytes = ENCODED) -> bool:
    """Whether a file has the text. A running server replaces files, and removes its temporary ones."""
    for folder, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                if text in pathlib.Path(folder, name).read_bytes():
                    return True
    return False


def apiserver(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CROSSPLY, "apiserver", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **variables},
    )


def kubectl(server: Program, *words: str) -> str:
    command = ["kubectl", "--kubeconfig", str(server.directory / "kubeconfig"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@needs("kubectl")
def test_secrets_of_kubectl_are_readable_by_kubectl_and_in_no_file(tmp_path: pathlib.Path) -> None:
    key = private_file(tmp_path / "key", new_key())
    state, backup = tmp_path / "state", tmp_path / "backups" / "b.db"
    backup.parent.mkdir()
    with Program(state, "--encryption-key-file", key) as server:
        kubectl(server, "create", "secret", "generic", "mine", f"--from-literal=password={CANARY}")
        kubectl(server, "label", "secret", "mine", "a=b")
        kubectl(server, "delete", "secret", "mine")
        kubectl(server, "create", "secret", "generic", "mine", f"--from-literal=password={CANARY}")
        assert apiserver("backup", "--data", str(state), str(backup)).returncode == 0
        assert (state / "data" / "crossply.db-wal").exists()
        assert not is_anywhere(state)
    assert not is_anywhere(tmp_path)
    with Program(state, "--encryption-key-file", key) as server:
        shown = kubectl(server, "get", "secret", "mine", "-o", "jsonpath={.data.password}")
        assert shown.encode() == ENCODED
    assert apiserver("backup", "--data", str(state), str(backup.with_name("offline.db"))).returncode == 0
    assert not is_anywhere(backup.parent)
    refused = apiserver("restore", "--data", str(tmp_path / "other"), str(backup))
    assert (refused.returncode, "CP-622" in refused.stderr) == (1, True)
    for path in (backup, backup.with_name("offline.db")):
        other = tmp_path / path.stem
        restored = apiserver("restore", "--data", str(other), "--encryption-key-file", key, str(path))
        assert restored.returncode == 0, restored.stderr
        with Program(other, "--encryption-key-file", key) as server:
            assert server.ask("GET", f"{SECRETS}/mine").status == 200


def test_a_running_history_is_encrypted_at_the_next_start_and_watches_go_on(tmp_path: pathlib.Path) -> None:
    state = tmp_path / "state"
    with Program(state) as server:
        first = server.ask("POST", SECRETS, secret("a")).json["metadata"]["resourceVersion"]
        server.ask("POST", SECRETS, secret("b"))
        server.ask("DELETE", f"{SECRETS}/b")
    assert is_anywhere(state)
    with Program(state, "--encryption-key-env", "THE_KEY_IS_MISSING") as refused:
        assert refused.wait() == 1
    assert "THE_KEY_IS_MISSING is not set" in refused.log_text()
    key = private_file(tmp_path / "key", new_key())
    with Program(state, "--encryption-key-file", key) as server:
        assert not is_anywhere(state)
        path = f"{SECRETS}?watch=1&timeoutSeconds=1&resourceVersion={first}"
        with server.watch(path) as watch:
            observed = [(event["type"], event["object"]["metadata"]["name"]) for event in events(watch)]
        assert observed == [("ADDED", "b"), ("DELETED", "b")]
    assert "rewrote the database: 3 values" in server.log_text()


def test_the_log_that_a_killed_server_left_is_encrypted_and_nothing_of_it_is_lost(
    tmp_path: pathlib.Path,
) -> None:
    state, key = tmp_path / "state", private_file(tmp_path / "key", new_key())
    with Program(state) as server:
        versions = [server.ask("POST", SECRETS, secret(f"s{n}")).json["metadata"] for n in range(20)]
        server.kill()
    assert is_anywhere(state / "data", ENCODED)
    assert (state / "data" / "crossply.db-wal").stat().st_size > 0
    encrypted = apiserver("encrypt", "--data", str(state), "--encryption-key-file", key)
    assert "20 values were rewritten" in encrypted.stdout, encrypted.stderr
    assert not is_anywhere(state)
    with Program(state, "--encryption-key-file", key) as server:
        result = [item["metadata"] for item in server.ask("GET", SECRETS).json["items"]]
        assert sorted(result, key=str) == sorted(versions, key=str)


def test_keys_come_from_a_file_a_variable_a_command_or_a_configuration(tmp_path: pathlib.Path) -> None:
    key = new_key()
    state, path = tmp_path / "state", private_file(tmp_path / "key", f"# ours\n{key}\n")
    command = f"sh -c 'cat {path}; echo >&2 asked for the key'"
    os.environ["CROSSPLY_TEST_KEY"] = key
    try:
        with Program(state, "--encryption-key-env", "CROSSPLY_TEST_KEY") as server:
            assert server.ask("POST", SECRETS, secret("a")).status == 201
    finally:
        del os.environ["CROSSPLY_TEST_KEY"]
    for flags in (("--encryption-key-file", path), ("--encryption-key-command", command)):
        with Program(state, *flags) as server:
            assert server.ask("GET", f"{SECRETS}/a").status == 200
            arguments = pathlib.Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
            assert key.encode() not in arguments
        assert key not in server.log_text()
    configuration = CONFIGURATION.format(secret=key)
    refused = apiserver(
        *("encrypt", "--data", str(state)),
        *("--encryption-config", private_file(tmp_path / "config.yaml", configuration)),
    )
    assert (refused.returncode, "not among the given keys" in refused.stderr) == (1, True)
    other = tmp_path / "other"
    with Program(other, "--encryption-config", str(tmp_path / "config.yaml")) as server:
        server.ask("POST", SECRETS, secret("a"))
        server.ask("POST", CONFIG_MAPS, config_map("b", text=CANARY))
        assert not is_anywhere(other, CANARY.encode())
        assert is_anywhere(other, b"k8s:enc:aesgcm:v1:key1:")


def test_keys_are_rotated_and_encryption_is_turned_off(tmp_path: pathlib.Path) -> None:
    state, (old, new) = tmp_path / "state", (new_key(), new_key())
    path = tmp_path / "key"
    flags = ("--data", str(state), "--encryption-key-file", private_file(path, old))
    with Program(state, *flags[2:]) as server:
        server.ask("POST", SECRETS, secret("a"))
        running = apiserver("encrypt", *flags)
        assert (running.returncode, "in use" in running.stderr) == (1, True)
    path.write_text(f"{new}\n{old}\n")
    assert "1 values were rewritten" in apiserver("encrypt", *flags).stdout
    assert "0 values were rewritten" in apiserver("encrypt", *flags).stdout
    path.write_text(f"{old}\n")
    refused = apiserver("encrypt", *flags)
    assert (refused.returncode, "try: give the key that encrypted them" in refused.stderr) == (1, True)
    path.write_text(f"{new}\n")
    assert apiserver("encrypt", *flags).returncode == 0, "the old key is not needed any more"
    path.write_text(f"identity\n{new}\n")
    assert "1 values were rewritten" in apiserver("encrypt", *flags).stdout
    assert is_anywhere(state)
    with Program(state) as server:
        assert server.ask("GET", f"{SECRETS}/a").status == 200
    without = apiserver("encrypt", "--data", str(state))
    assert (without.returncode, "no key is given" in without.stderr) == (80, True)


def test_a_rotation_that_is_killed_anywhere_is_finished_by_the_next_one(tmp_path: pathlib.Path) -> None:
    state, keys = tmp_path / "state", [new_key()]
    path = tmp_path / "key"
    with Program(state, "--encryption-key-file", private_file(path, keys[0])) as server:
        connection = server.connect()
        for number in range(150):
            body = secret(f"s{number}", 40_000)
            assert server.ask_on(connection, "POST", SECRETS, body).status == 201
        connection.close()
        before = server.ask("GET", SECRETS).json["items"]
    database, partial = state / "data" / "crossply.db", state / "data" / "crossply.db.partial"
    killed_copying = 0
    for expected in (0, 1, 1 << 20, 3 << 20, 5 << 20):
        keys.insert(0, new_key())
        path.write_text("\n".join(keys))
        process = subprocess.Popen(
            [CROSSPLY, "apiserver", "encrypt", "--data", str(state), "--encryption-key-file", str(path)],
            stdout=subprocess.DEVNULL,
        )
        _wait_until_written(process, partial, expected)
        process.kill()
        process.wait()
        killed_copying += partial.exists()
        assert database.exists()
    assert killed_copying > 0, "it was killed in the middle at least once"
    with Program(state, "--encryption-key-file", str(path)) as server:
        assert server.ask("GET", SECRETS).json["items"] == before
    assert not partial.exists()
    path.write_text(keys[0])
    with Program(state, "--encryption-key-file", str(path)) as server:
        assert server.ask("GET", SECRETS).json["items"] == before
    assert not is_anywhere(state)


def _wait_until_written(process: subprocess.Popen[bytes], partial: pathlib.Path, size: int) -> None:
    while process.poll() is None:
        if partial.exists() and partial.stat().st_size >= size:
            return
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no encryption key"),
        ("c2hvcnQ=", "line 1 of {path} is not a key of 32 bytes in base64"),
        (f"{CANARY}!", "line 1 of {path} is not a key of 32 bytes in base64"),
    ],
    ids=["empty", "too short", "no base64"],
)
def test_a_key_that_cannot_be_used_is_refused_and_not_shown(
    tmp_path: pathlib.Path, text: str, sentence: str
) -> None:
    path = private_file(tmp_path / "key", text)
    with Program(tmp_path / "state", "--encryption-key-file", path) as server:
        assert server.wait() == 1
    assert sentence.format(path=path) in server.log_text()
    assert "CP-625" in server.log_text()
    assert not text or text not in server.log_text()


def test_a_key_file_that_others_may_read_is_refused(tmp_path: pathlib.Path) -> None:
    path = pathlib.Path(private_file(tmp_path / "key", new_key()))
    path.chmod(0o644)
    with Program(tmp_path / "state", "--encryption-key-file", str(path)) as server:
        assert server.wait() == 1
    assert f"other users may read or change {path}" in server.log_text()


def test_a_failing_command_is_named_without_its_output(tmp_path: pathlib.Path) -> None:
    command = f"sh -c 'echo {CANARY[:7]}; exit 3'"
    with Program(tmp_path / "state", "--encryption-key-command", command) as server:
        assert server.wait() == 1
    assert "exit code 3" in server.log_text()
