"""When we are killed, nothing that we started goes on, and the next process clears away what is left."""

from __future__ import annotations

import contextlib
import glob
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from crossply.containers import cgroups
from crossply.containers.failures import ContainerError
from crossply.containers.image_store import Store, StoredImage
from crossply.containers.launcher_client import LauncherClient
from crossply.containers.run_to_completion import run_once
from crossply.containers.settings import Settings

pytestmark = pytest.mark.xdist_group("containers")

PROGRAM = """
import sys, time
from crossply.containers.served_container import ServedContainer
from crossply.containers.settings import Settings
from crossply.containers.image_store import Store
image = Store(sys.argv[1]).get(sys.argv[2])
container = ServedContainer("f", image, Settings(engine=sys.argv[3]))
print(container.target(30), flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_a_container_ends_with_its_parent_process(
    engine: str, store: Store, function: StoredImage, ending: signal.Signals
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, store.directory, function.digest, engine],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    place = process.stdout.readline().strip().removeprefix("unix:")
    directory = os.path.dirname(os.path.dirname(place))
    marks = (directory, f"crossply-{process.pid}-")
    assert len(processes_of(*marks)) > 2, "the container runs"
    process.send_signal(ending)
    process.communicate()
    for _ in range(500):
        if not processes_of(*marks):
            break
        time.sleep(0.02)
    assert processes_of(*marks) == []
    # What is left is files and empty control groups, which the next of us removes.
    os.utime(directory, (1, 1))
    LauncherClient().close()
    assert not os.path.exists(directory)
    cgroups.find_places()
    assert not glob.glob(f"/sys/fs/cgroup/*/**/crossply-{process.pid}-*", recursive=True)


def processes_of(directory: str, group: str) -> list[str]:
    """The launcher and its engines, which have its directory mounted, and what is in its control groups."""
    process_ids = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if directory in (process / "mountinfo").read_text() or group in (process / "cgroup").read_text():
                process_ids.append(process.name)
    return process_ids


def test_directories_of_others_are_left_alone(launcher: None) -> None:
    stale, young = (tempfile.mkdtemp(prefix="crossply-containers-", dir="/tmp") for _ in range(2))
    second = LauncherClient()
    try:
        os.utime(second.directory, (1, 1))
        os.mkdir(os.path.join(stale, "s"))
        os.utime(stale, (1, 1))
        third = LauncherClient()
        third.close()
        assert os.path.exists(second.directory), "somebody lives there"
        assert os.path.exists(young), "somebody may be about to move in"
        assert not os.path.exists(stale), "nobody does"
    finally:
        second.close()
        os.rmdir(young)


def test_a_launcher_that_is_closed_is_no_longer_listened_to(launcher: None) -> None:
    for _ in range(5):
        client = LauncherClient()
        client.close()
        assert client._reader is not None
        assert not client._reader.is_alive(), "it would read from a socket that is closed"


def test_an_unclosed_container_leaves_nothing(engine: str, store: Store, function: StoredImage) -> None:
    program = PROGRAM.replace("time.sleep(600)", "")
    command = [sys.executable, "-c", program, store.directory, function.digest, engine]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output, _ = process.communicate()
    assert process.returncode == 0
    assert not os.path.exists(os.path.dirname(os.path.dirname(output.strip().removeprefix("unix:"))))
    assert not glob.glob(f"/sys/fs/cgroup/*/**/crossply-{process.pid}-*", recursive=True)


def test_an_oversized_message_is_an_error(launcher: None, function: StoredImage) -> None:
    settings = Settings(environment=(f"LONG={'x' * (4 << 20)}",))
    with pytest.raises(ContainerError, match="could not be started: the launcher is unreachable"):
        run_once(function, b"", settings)
    assert run_once(function, b"", Settings(arguments=("echo",))).status == 0


FORBIDDEN = """
import os
from crossply.containers.failures import ContainersForbidden
from crossply.containers.launcher import syscalls as kernel
from crossply.containers.launcher_client import current_launcher
user = os.geteuid()
kernel.unshare(kernel.NEW_USER)
open("/proc/self/uid_map", "w").write(f"0 {user} 1")
open("/proc/sys/user/max_user_namespaces", "w").write("0")
try:
    current_launcher()
except ContainersForbidden as problem:
    print(problem)
"""


def test_forbidden_namespaces_are_reported(launcher: None) -> None:
    done = subprocess.run([sys.executable, "-c", FORBIDDEN], capture_output=True, text=True)
    message = "cannot start containers here: user namespaces are not allowed: "
    assert done.stdout.startswith(message), done.stderr
