"""What a function tries that it must not: each is contained, in both engines."""

from __future__ import annotations

import os
import platform
import socket
from pathlib import Path

import pytest

from crossply.containers.image_store import StoredImage
from crossply.containers.run_to_completion import run_once
from crossply.containers.settings import MEBIBYTE, RUNNER, Limits, Mount, Settings
from crossply.containers.user_namespace import UNPRIVILEGED

pytestmark = pytest.mark.xdist_group("containers")


def run(
    engine: str, function: StoredImage, word: str, stdin: str = "", settings: Settings | None = None
) -> str:
    settings = (settings or Settings())._replace(engine=engine, arguments=(word,))
    finished = run_once(function, stdin.encode(), settings)
    assert finished.status == 0, finished.stderr
    return finished.stdout.decode()


def test_a_fork_bomb_ends_at_its_limit_of_processes(engine: str, function: StoredImage) -> None:
    written = run(engine, function, "fork", settings=Settings(limits=Limits(pids=48)))
    assert "resource temporarily unavailable" in written
    assert int(written.split()[1]) < 48


def test_the_disk_is_not_filled(engine: str, function: StoredImage) -> None:
    written = run(engine, function, "fill", settings=Settings(limits=Limits(scratch=4 * MEBIBYTE)))
    assert written.splitlines() == [
        "/tmp 4 write /tmp/4: no space left on device",
        "/dev/shm 4 write /dev/shm/4: no space left on device",
    ]


def test_nothing_is_reached_over_the_network(engine: str, function: StoredImage) -> None:
    with socket.socket() as host, socket.socket(socket.AF_UNIX) as abstract:
        host.bind(("127.0.0.1", 0))
        host.listen()
        abstract.bind(f"\0crossply-test-{os.getpid()}")
        abstract.listen()
        places = [
            "tcp=169.254.169.254:80",
            "udp=192.0.2.1:53",
            f"tcp=127.0.0.1:{host.getsockname()[1]}",
            f"unix=@crossply-test-{os.getpid()}",
        ]
        written = run(engine, function, "network", " ".join(places))
        shared = run(engine, function, "network", places[2], Settings(network=RUNNER))
    lines = written.splitlines()
    assert [line.partition(" reached: ")[2][:5] for line in lines[:4]] == ["false"] * 4
    assert lines[4:] == ["interface lo"]
    assert "reached: true" in shared, "the network of the runner is shared where that is wanted"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of system calls are those of x86_64")
def test_system_calls_that_administer_a_machine_are_refused(engine: str, function: StoredImage) -> None:
    assert run(engine, function, "syscalls") == "tried 28\n"


def test_nothing_of_the_host_is_visible(
    engine: str, function: StoredImage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary")
    secret.chmod(0o644)
    monkeypatch.setenv("CANARY", "canary")
    settings = Settings(environment=("GREETING=hello",))
    written = run(engine, function, "look", f"{secret} /etc/shadow /proc/1/environ/x", settings)
    assert "read: true" not in written
    assert "processes 1\n" in written, "other processes are not there"
    assert "canary" not in written.lower().replace("/secret", "")
    assert "GREETING=hello" in written


def test_a_function_is_never_root(engine: str, function: StoredImage) -> None:
    inside = run(engine, function, "look").partition("map ")[2].splitlines()[0].split()
    # Identity 1 of the launcher's namespace is one that owns nothing but images.
    assert os.geteuid() != 0 or inside[-3:] == ["65532", "1", "1"]
    assert os.stat(function.root).st_uid == (UNPRIVILEGED if os.geteuid() == 0 else os.geteuid())


def test_the_root_cannot_be_written(engine: str, function: StoredImage) -> None:
    written = run(engine, function, "write")
    assert "opened: true" not in written
    assert "/x opened: false open /x: read-only file system" in written


def test_a_mount_of_the_host_can_be_read_and_not_written(
    engine: str, function: StoredImage, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "file").write_text("to be read")
    (shared / "file").chmod(0o666)
    shared.chmod(0o777)
    mounted = Settings(mounts=(Mount(str(shared), "/etc"),))
    assert "file /etc/file read: true" in run(engine, function, "look", "/etc/file", mounted)
    assert "/etc/hosts opened: false" in run(engine, function, "write", settings=mounted)
    assert sorted(os.listdir(shared)) == ["file"]


def test_certificates_are_visible_to_the_function_alone(
    engine: str, function: StoredImage, certificates: Path
) -> None:
    place = str(certificates / "server")
    size = (certificates / "server" / "tls.key").stat().st_size
    assert f"key {size} <nil>" in run(engine, function, "look", settings=Settings(tls_certificates=place))
    assert "key 0 open" in run(engine, function, "look")
