"""The data directory: one server at a time, private files, and no serving of what is damaged or unknown."""

from __future__ import annotations

import os
import pathlib
import stat
import subprocess

import apsw
import pytest

from tests.support.apiserver.servers import CROSSPLY, Program, config_map


def _start(directory: pathlib.Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Start a server that is expected to refuse."""
    command = [CROSSPLY, "apiserver", "--data", str(directory), "--listen", "127.0.0.1:0", *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture
def stopped(tmp_path: pathlib.Path) -> pathlib.Path:
    """The directory of a server that ran and stopped."""
    with Program(tmp_path / "data") as server:
        server.create_map("kept", text="x" * 5000)
    return tmp_path / "data"


def test_a_second_server_on_the_same_data_is_refused_and_changes_nothing(tmp_path: pathlib.Path) -> None:
    with Program(tmp_path / "data") as server:
        before = {path: path.read_bytes() for path in (tmp_path / "data" / "pki").iterdir()}
        refused = _start(tmp_path / "data", "--names", "other.example.org")
        assert refused.returncode == 1
        assert f"is in use by another process (process {server.process.pid})" in refused.stderr
        assert "stop the other process" in refused.stderr
        assert {path: path.read_bytes() for path in (tmp_path / "data" / "pki").iterdir()} == before
        assert server.is_well()


def test_a_newer_database_is_refused_untouched(stopped: pathlib.Path) -> None:
    database = stopped / "data" / "crossply.db"
    connection = apsw.Connection(str(database))
    connection.pragma("user_version", 999)
    connection.close()
    before = database.read_bytes()
    refused = _start(stopped)
    assert refused.returncode == 1
    assert "newer" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert database.read_bytes() == before


def test_a_damaged_database_is_refused(stopped: pathlib.Path) -> None:
    database = stopped / "data" / "crossply.db"
    data = bytearray(database.read_bytes())
    place = data.rindex(b"x" * 1000) + 500
    data[place] ^= 1
    database.write_bytes(data)
    refused = _start(stopped)
    assert refused.returncode == 1
    assert "the database is damaged" in refused.stderr
    assert "restore the newest backup" in refused.stderr


def test_stored_files_are_private(stopped: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with Program(stopped, "--audit-log", str(tmp_path / "audit.log")):
        modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [stopped, *stopped.rglob("*")]}
        modes[tmp_path / "audit.log"] = stat.S_IMODE((tmp_path / "audit.log").stat().st_mode)
    assert len(modes) > 10
    assert {
        path: oct(mode) for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)
    } == {}


def test_a_directory_that_cannot_be_created_is_reported(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("")
    refused = _start(tmp_path / "file" / "data")
    assert refused.returncode == 1
    assert "cannot open the data directory" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_an_address_in_use_is_reported(tmp_path: pathlib.Path, server: Program) -> None:
    host, port = server.address
    command = [CROSSPLY, "apiserver", "--data", str(tmp_path / "data"), "--listen", f"{host}:{port}"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert refused.returncode == 1
    assert f"cannot listen on {host}:{port}: Address already in use" in refused.stderr


def test_listening_on_all_addresses_must_be_explicit_and_gives_a_warning(tmp_path: pathlib.Path) -> None:
    command = [CROSSPLY, "apiserver", "--data", str(tmp_path / "data"), "--listen", ":0"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert refused.returncode == 80
    assert "name the address" in refused.stderr
    with Program(tmp_path / "data", listen="0.0.0.0:0") as server:
        assert server.log_text() == (
            "crossply: warning: listening on 0.0.0.0: every host that reaches this machine reaches the API\n"
        )
        assert server.is_well()


def test_writes_fail_whole_and_reads_go_on_when_the_disk_is_full(tmp_path: pathlib.Path) -> None:
    """A limit on the size of files stands for a disk that is full."""
    directory = tmp_path / "data"
    Program(directory).stop()
    limited = ["sh", "-c", 'ulimit -f 400; exec "$0" "$@"', CROSSPLY]
    command = [*limited, "apiserver", "--data", str(directory), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    server = Program.__new__(Program)
    server.directory, server.process = directory, process
    server.url = process.stdout.readline().removeprefix("ready: ").strip()  # type: ignore[union-attr]
    answers = [server.create_map(f"m{number}", text="x" * 50_000).status for number in range(12)]
    assert answers[0] == 201
    assert answers[-1] in (500, 507)
    listed = server.ask("GET", "/api/v1/namespaces/default/configmaps").json["items"]
    remaining = {item["metadata"]["name"] for item in listed}
    assert {f"m{number}" for number, status in enumerate(answers) if status == 201} == remaining - {
        "kube-root-ca.crt"
    }
    assert server.is_well()
    process.kill()
    process.communicate()
    with Program(directory) as second:
        assert second.ask(
            "PUT", f"/api/v1/namespaces/default/configmaps/{min(remaining)}", config_map(min(remaining))
        )
        assert os.path.exists(directory / "data" / "crossply.db")


def test_leftovers_of_a_killed_server_are_removed_at_the_next_start(stopped: pathlib.Path) -> None:
    copy = stopped / "backup-abc123"
    copy.mkdir()
    left = [copy / "backup.db", stopped / "admin.token.77.new", stopped / "pki" / "ca.key.4711.new"]
    for path in left:
        path.write_text("private")
    token = (stopped / "admin.token").read_text()
    with Program(stopped) as server:
        assert server.is_well()
        assert [path for path in (*left, copy) if path.exists()] == []
        assert (stopped / "admin.token").read_text() == token
