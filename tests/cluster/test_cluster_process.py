"""Server programs are started, watched and ended for certain; tried with programs that every machine has."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys

import pytest

from tests.support.cluster.client import eventually
from tests.support.cluster.process import ClusterFailed, ServerProcess
from tests.support.paths import ROOT
from tests.support.ports import free_port, is_free

LEAVES_ORPHANS = """
import subprocess
from tests.support.cluster.process import adopt_orphans, end_children
adopt_orphans()
# Half a second, in which they become what they are: before that they have no command line.
subprocess.run(["sh", "-c", "setsid sh -c 'sleep 60; true' >/dev/null & sleep 61 >/dev/null & sleep 0.5"])
kept = subprocess.Popen(["sleep", "62"])
ended = end_children(but=[kept.pid])
print(len(ended) >= 2, kept.poll(), end_children(but=[kept.pid]))
kept.kill()
"""

STARTS_AND_DIES = """
import os, signal, sys
from tests.support.cluster.process import ServerProcess
print(ServerProcess.start(["/bin/sleep", "60"], sys.argv[1], outlive_us=False).pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def python(script, *arguments):
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "log")


def test_a_program_that_ends_while_starting_shows_the_end_of_its_log(log):
    failing = ServerProcess.start(
        [shutil.which("sh"), "-c", "echo no such flag; exit 1"], log, outlive_us=False
    )
    with pytest.raises(ClusterFailed, match=r"^sh ended while starting\n.*log:\nno such flag\n$"):
        failing.wait_until(lambda: False, 10)


def test_a_program_that_is_never_ready_is_stopped(log):
    silent = ServerProcess.start([shutil.which("sleep"), "60"], log, outlive_us=False)
    with pytest.raises(ClusterFailed, match="was not ready after 0 s"):
        silent.wait_until(lambda: False, 0.1)
    silent.stop()
    assert not silent.alive()


def test_a_program_that_ignores_sigterm_is_killed(log):
    stubborn = "trap '' TERM; echo ready; while true; do sleep 0.1; done"
    process = ServerProcess.start([shutil.which("bash"), "-c", stubborn], log, outlive_us=False)
    process.wait_until(lambda: "ready" in process.log_tail(), 10)
    process.stop(grace=0.2)
    assert not process.alive()


def test_a_program_dies_with_the_process_that_started_it(log):
    orphan = ServerProcess("sleep", int(python(STARTS_AND_DIES, log)), log)
    assert eventually(lambda: not orphan.alive(), 10)


def test_another_program_with_the_same_process_id_is_not_ours(log):
    assert not ServerProcess("etcd", os.getpid(), log).alive()


def test_orphans_of_a_command_are_killed_and_the_cluster_is_not():
    assert python(LEAVES_ORPHANS) == "True None []\n"


def test_free_ports_are_different_and_free_until_bound():
    ports = [free_port() for _ in range(4)]
    assert len(set(ports)) == 4
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", ports[0]))
        listener.listen()
        assert not is_free(ports[0])
