"""`crossply up` and `crossply down`: processes, ports, and what they leave behind."""

from __future__ import annotations

import json
import os
import pathlib
import re
import socket
import subprocess
import urllib.request

import pytest

import crossply as crossply_package
from crossply.cli.framework.parser import Parsed, parse
from crossply.cli.local_control_plane.data_directory import saved_port
from crossply.cli.local_control_plane.lock import is_locked, running
from crossply.cli.up.background_start import detached_words
from crossply.cli.up.command import COMMAND
from tests.support.cli.up_process import CROSSPLY, api_servers, crossply, eventually, kill, plane_at
from tests.support.patience import PATIENCE
from tests.support.ports import free_port
from tests.support.programs import needs

pytestmark = pytest.mark.xdist_group("up")

DEFINITION = {
    "apiVersion": "apiextensions.crossplane.io/v2",
    "kind": "CompositeResourceDefinition",
    "metadata": {"name": "xthings.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "XThing", "plural": "xthings"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "referenceable": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


@pytest.fixture
def plane(tmp_path):
    with plane_at(tmp_path / "data") as control_plane:
        yield control_plane


def kubectl(plane, *words, stdin=""):
    command = ["kubectl", "--kubeconfig", str(plane.data / "kubeconfig"), *words]
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=2 * PATIENCE, check=True
    )


def values_of(words):
    return parse(words, {}, Parsed())


VALUES = {"int": "7", "duration": "90s", "string": "a=b c", "strings": "x", "path": "p q", "paths": "p q"}


def another_value(flag):
    """A value that is not the default."""
    if flag.kind == "bool":
        return "false" if values_of(["up"])[flag.name] else "true"
    return flag.choices[-1] if flag.choices else VALUES[flag.kind]


@pytest.mark.parametrize("flag", COMMAND.flags, ids=lambda flag: flag.name)
def test_every_flag_reaches_the_process_in_the_background(flag):
    words = ["up", "-d", "--verbose", f"--{flag.name}={another_value(flag)}"]
    passed = values_of(detached_words(words, 5))
    own = {"detach": False, "ready-fd": 5}
    assert passed == {**values_of(words), **own}
    if flag.name not in own:
        assert passed[flag.name] != values_of(["up"])[flag.name]


def test_a_detached_process_obeys_its_flags_and_down_stops_all_of_it(plane, tmp_path):
    port = free_port()
    done = plane.up("--in-memory", "--metrics-port", str(port), "--log-format=json")
    assert done.returncode == 0, done.stderr
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
        assert b"controller_runtime" in reply.read()
    second = plane.up()
    assert second.stdout.startswith(f"already running as process {plane.process.pid}")
    refused = crossply("up", "--data", str(plane.data))
    assert refused.returncode == 1
    assert f"already: process {plane.process.pid}" in refused.stderr
    processes = plane.process, plane.api_server
    assert plane.down() == "stopped\n"
    assert [process.is_alive() for process in processes] == [False, False]
    assert plane.down() == "not running\n"


def test_a_failed_start_is_not_reported_as_running_regardless_of_its_log(plane):
    done = plane.up("--listen", "control plane ready:1")
    assert done.returncode == 1
    assert "control plane ready" in plane.log
    assert "the control plane ended with exit code" in done.stderr
    assert plane.down() == "not running\n"


def test_the_reason_of_a_failed_start_is_reported(plane):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        done = plane.up("--listen", f"127.0.0.1:{port}")
    assert done.returncode == 1
    reason = f"the API server did not start: cannot listen on 127.0.0.1:{port}: "
    assert reason in done.stderr.splitlines()[-1]
    assert "address already in use" in done.stderr.splitlines()[-1].lower()
    assert reason in plane.log


def test_the_reason_why_one_in_the_foreground_does_not_start_is_the_last_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        done = crossply("up", "--data", str(tmp_path / "data"), "--listen", address)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"crossply: error: the API server did not start: cannot listen on {address}: ")


@pytest.mark.parametrize("mode_flags", [(), ("--detach",)], ids=["foreground", "background"])
@pytest.mark.parametrize(
    ("flag", "sentence"),
    [
        ("--listen=foo", '--listen: expected HOST:PORT but got "foo"'),
        ("--listen=127.0.0.1:99999", '--listen: expected HOST:PORT but got "127.0.0.1:99999"'),
        ("--allow-local-functions=nope", "--allow-local-functions: "),
    ],
)
def test_a_flag_that_is_wrong_is_a_usage_error_before_anything_starts(tmp_path, mode_flags, flag, sentence):
    done = crossply("up", *mode_flags, "--data", str(tmp_path / "data"), flag, cwd=tmp_path)
    assert done.returncode == 80
    assert done.stderr.splitlines()[-1].startswith(f"crossply: error: {sentence}")
    assert "port" not in done.stderr
    assert not (tmp_path / "data").exists()


def test_the_port_stays_the_same_unless_it_is_in_use_or_another_is_chosen(plane):
    assert plane.up().returncode == 0
    first = plane.server
    port = int(first.rpartition(":")[2])
    plane.down()
    assert plane.up().returncode == 0
    assert plane.server == first
    plane.down()
    with socket.create_server(("127.0.0.1", port)):
        done = plane.up()
        assert done.returncode == 0
        assert plane.server != first
        assert done.stderr.startswith(
            f"crossply: warning: the port of this control plane, {port}, cannot be used: address already"
        )
        plane.down()
    assert plane.up().returncode == 0
    assert plane.server == first, "once it is free it is used again"
    plane.down()
    chosen = free_port()
    assert plane.up("--listen", f"127.0.0.1:{chosen}").returncode == 0
    plane.down()
    assert plane.up().returncode == 0
    assert plane.server == f"https://127.0.0.1:{chosen}", "what was chosen is kept, too"


@pytest.mark.parametrize("text", ["", "x", "-1", "0", "65536", "9" * 5000, "1.5"])
def test_an_invalid_saved_port_is_ignored(text, tmp_path):
    (tmp_path / "port").write_text(text)
    assert saved_port(str(tmp_path)) is None


@needs("kubectl")
def test_when_it_is_killed_its_api_server_ends_and_the_next_one_starts_at_once(plane):
    assert plane.up().returncode == 0
    server, kubeconfig = plane.api_server, plane.server
    kubectl(plane, "create", "namespace", "kept")
    kill(plane.process)
    done = plane.up()
    assert done.returncode == 0, done.stderr
    assert not server.is_alive()
    assert plane.server == kubeconfig
    assert kubectl(plane, "get", "namespace", "kept", "-o", "name").stdout == "namespace/kept\n"


def test_down_waits_for_the_api_server_of_one_that_was_killed(plane):
    assert plane.up().returncode == 0
    server = plane.api_server
    kill(plane.process)
    assert plane.down() in ("stopped\n", "not running\n")
    assert not server.is_alive()


@needs("kubectl")
def test_when_the_api_server_is_killed_it_is_restarted_and_the_controllers_go_on(plane):
    assert plane.up().returncode == 0
    before, address = plane.api_server, plane.server
    kill(before)
    eventually(lambda: "it is started again on port" in plane.log)
    eventually(lambda: not before.is_alive())
    eventually(lambda: _answers(plane))
    assert plane.server == address
    kubectl(plane, "apply", "-f", "-", stdin=json.dumps(DEFINITION))
    kubectl(plane, "wait", "--for=condition=Established", "xrd/xthings.example.org", "--timeout=60s")
    after = plane.api_server
    assert after != before
    assert plane.down() == "stopped\n"
    assert not after.is_alive()


def _answers(plane) -> bool:
    host, _, port = plane.server.removeprefix("https://").rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def test_an_api_server_whose_objects_are_lost_is_not_replaced_by_an_empty_one(plane):
    assert plane.up("--in-memory").returncode == 0
    process = plane.process
    kill(plane.api_server)
    eventually(lambda: not process.is_alive())
    assert "the API server ended with signal 9, and its objects were in memory only" in plane.log
    assert plane.down() == "not running\n"


@needs("kubectl")
def test_it_goes_on_when_no_caller_waits_any_more(plane):
    command = [CROSSPLY, "up", "--detach", "--in-memory", "--data", str(plane.data)]
    with subprocess.Popen(command) as waiting:
        eventually(lambda: plane.data.is_dir() and running(str(plane.data)) is not None)
        waiting.kill()
    process = plane.process
    eventually(lambda: "control plane ready" in plane.log)
    kubectl(plane, "apply", "-f", "-", stdin=json.dumps(DEFINITION))
    kubectl(plane, "wait", "--for=condition=Established", "xrd/xthings.example.org", "--timeout=60s")
    assert process.is_alive()


def test_one_that_hangs_while_it_starts_can_be_stopped(plane):
    plane.data.mkdir(mode=0o700)
    os.mkfifo(plane.data / "admin.token")  # its API server waits for a client that writes to it
    with subprocess.Popen([CROSSPLY, "up", "--data", str(plane.data)], stdout=subprocess.PIPE) as process:
        eventually(lambda: running(str(plane.data)) is not None)
        eventually(lambda: api_servers(plane.process))
        server = plane.api_server
        assert plane.down() == "stopped\n"
        assert process.wait(PATIENCE) in (0, -15)
    assert not server.is_alive()


def test_modules_of_the_working_directory_are_not_imported(plane, tmp_path):
    for name in ("uvloop", "secrets", "asyncio", "crossply", "msgspec"):
        (tmp_path / f"{name}.py").write_text("open('taken-over', 'w').close()\nraise SystemExit(3)\n")
    done = plane.up("--in-memory", cwd=tmp_path)
    assert done.returncode == 0, done.stderr + plane.log
    assert not (tmp_path / "taken-over").exists()


def test_every_python_that_is_started_ignores_the_working_directory():
    """-P and -I keep it off the path of modules."""
    lines = [
        f"{path.name}: {line.strip()}"
        for path in pathlib.Path(crossply_package.__file__).parent.rglob("*.py")
        for line in path.read_text().splitlines()
        if re.search(r"sys\.executable\b", line)
    ]
    assert len(lines) >= 6
    assert [line for line in lines if not re.search(r'sys\.executable, (\*words|"-[PI]")', line)] == []


def test_a_control_plane_in_the_foreground_ends_with_its_api_server(tmp_path):
    data = tmp_path / "data"
    with plane_at(data) as plane:
        process = subprocess.Popen(
            [CROSSPLY, "up", "--in-memory", "--data", str(data)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        with process.stdout:
            assert process.stdout.readline() == "control plane ready\n"
            server = plane.api_server
            assert os.getpgid(server.pid) != os.getpgid(process.pid), "Ctrl-C is for the first of them only"
            process.terminate()
            assert process.wait(PATIENCE) == 0
        assert not server.is_alive()


def test_a_control_plane_that_is_killed_leaves_no_private_key_outside_of_its_data_directory(plane, tmp_path):
    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(elsewhere))
        assert plane.up().returncode == 0
        credentials = plane.data / "credentials"
        assert len(list(credentials.iterdir())) == 1
        before = next(credentials.iterdir())
        kill(plane.process)
        eventually(lambda: not is_locked(str(plane.data)))
        assert [
            path for path in elsewhere.rglob("*") if path.is_file() and b"PRIVATE" in path.read_bytes()
        ] == []
        assert plane.up().returncode == 0
    assert not before.exists()
    assert len(list(credentials.iterdir())) == 1
    plane.down()
    assert list(credentials.iterdir()) == []
