"""Which process runs on a data directory: none but the one that holds the lock is ever signalled."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys

import pytest

from crossply.cli.local_control_plane import lock as up_lock
from crossply.cli.local_control_plane.data_directory import LOCK_FILE
from crossply.cli.local_control_plane.failures import AlreadyRunning
from crossply.cli.local_control_plane.process_identity import Process, start_time
from tests.support.cli.up_process import crossply


@pytest.fixture
def stranger():
    """A process that has nothing to do with it."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process
        process.kill()


@contextlib.contextmanager
def locked(directory):
    """A lock that another process has."""
    with open(directory / LOCK_FILE, "a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def records(pid: int, started: str) -> list[str]:
    right = f"{pid} {started}"
    return [right, str(pid), f"-{pid} {started}", f"0 {started}", f"-1 {started}", f"1 {started}", "x", ""]


def test_a_record_without_a_lock_names_no_process(tmp_path, stranger):
    """The one that wrote it has ended, and the number may be another's by now."""
    for record in records(stranger.pid, start_time(stranger.pid)):
        (tmp_path / LOCK_FILE).write_text(record)
        done = crossply("down", "--data", str(tmp_path))
        assert (done.returncode, done.stdout) == (0, "not running\n"), record
    assert stranger.poll() is None


def test_a_lock_with_a_wrong_record_names_no_process(tmp_path, stranger):
    path, directory = tmp_path / LOCK_FILE, str(tmp_path)
    with locked(tmp_path):
        for record in records(stranger.pid, f"{start_time(stranger.pid)}0"):
            path.write_text(record)
            assert up_lock.is_locked(directory)
            assert up_lock.running(directory) is None, record
        path.write_text(f"{os.getpid()} {start_time(os.getpid())}\n")
        assert up_lock.running(directory) == Process(os.getpid(), start_time(os.getpid()))


def test_a_process_without_the_lock_is_not_signalled_whatever_the_file_has(tmp_path, stranger):
    path = tmp_path / LOCK_FILE
    with locked(tmp_path):
        path.write_text(f"{stranger.pid} {start_time(stranger.pid)}\n")
        assert up_lock.running(str(tmp_path)) is None
        done = crossply("down", "--data", str(tmp_path))
    assert done.returncode != 0
    assert f"{path} names process {stranger.pid}, which does not hold the lock" in done.stderr
    assert f"fuser -v {path}" in done.stderr
    assert stranger.poll() is None


def test_a_process_id_that_was_reused_is_not_signalled(stranger):
    assert not Process(stranger.pid, "1").terminate()
    assert stranger.poll() is None
    assert Process(stranger.pid, start_time(stranger.pid)).terminate()
    assert stranger.wait(60) == -15
    assert not Process(stranger.pid, "1").terminate(), "it is gone"


def test_a_lock_stays_until_all_processes_that_inherited_it_exit(tmp_path):
    directory = str(tmp_path)
    lock = up_lock.acquire(directory)
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(lock.descriptor,)) as child:
        with pytest.raises(AlreadyRunning, match=f"process {os.getpid()}"):
            up_lock.acquire(directory)
        lock.release()
        assert up_lock.is_locked(directory)
        assert up_lock.running(directory) is None
        child.kill()
        child.wait()
        assert not up_lock.is_locked(directory)
    second = up_lock.acquire(directory)
    second.release()


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("kept")
    (tmp_path / LOCK_FILE).symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic link"):
        up_lock.acquire(str(tmp_path))
    assert (tmp_path / "precious").read_text() == "kept"
