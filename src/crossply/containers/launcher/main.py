"""The launcher's first steps: namespaces, the identities in them, and a place for containers.

Started as `python -c … main(line)`, where `line` is the number of the descriptor to talk over.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import NoReturn

from crossply.containers.launcher import protocol as wire
from crossply.containers.launcher import syscalls as kernel
from crossply.containers.launcher.server import LauncherServer

_CGROUPS, _VERSION_2 = "/sys/fs/cgroup", "unified"


def main(descriptor: int) -> NoReturn:
    """Enter the namespaces and serve until the client is gone."""
    line = socket.socket(fileno=descriptor)
    line.set_inheritable(False)
    try:
        kernel.unshare(kernel.NEW_USER | kernel.NEW_MOUNTS | kernel.NEW_PIDS)
    except OSError as problem:
        wire.send(line, {"refused": f"user namespaces are not allowed: {problem.strerror}"})
        os._exit(1)
    wire.send(line, {"unshared": True})
    # The parent process may write our identities; this process may not always.
    message, _ = wire.receive(line)
    if message is None:
        os._exit(1)
    if os.fork():
        line.close()
        _, status = os.wait()
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    kernel.die_with_parent()
    _serve(line, message["place"], message["identified"])


def _serve(line: socket.socket, place: str, identified: bool) -> NoReturn:
    try:
        if not identified:
            raise OSError(0, "no identity", "uid_map")
        _furnish(place)
    except OSError as problem:
        wire.send(line, {"refused": f"{problem.filename}: {problem.strerror}"})
        os._exit(1)
    wire.send(line, {"ready": True})
    LauncherServer(line, place).run()
    # As the first process of the namespace we take every other one along.
    sys.stdout.flush()
    os._exit(0)


def _furnish(place: str) -> None:
    """A view of the host's files that is ours alone, with the processes that we can see."""
    kernel.mount("none", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("proc", "/proc", "proc", kernel.NO_SUID | kernel.NO_DEV | kernel.NO_EXEC)
    if os.path.isdir(_CGROUPS):
        _lock_control_groups()
    kernel.mount("tmpfs", place, "tmpfs", kernel.NO_SUID | kernel.NO_DEV, "mode=0711,size=64m")


def _lock_control_groups() -> None:
    """Let engines see that they may not make control groups, which is what we do ourselves.

    Else runc would move containers to groups of its own. And crun refuses to work where version 2 is mounted
    inside of version 1, so that it must not be seen.
    """
    if os.path.exists(os.path.join(_CGROUPS, "cgroup.controllers")):
        flags = os.statvfs(_CGROUPS).f_flag & (kernel.NO_SUID | kernel.NO_DEV | kernel.NO_EXEC)
        kernel.mount(_CGROUPS, _CGROUPS, flags=kernel.BIND)
        kernel.mount("", _CGROUPS, flags=kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | flags)
        return
    names = [name for name in os.listdir(_CGROUPS) if name != _VERSION_2]
    kernel.mount("tmpfs", _CGROUPS, "tmpfs")
    for name in names:
        os.mkdir(os.path.join(_CGROUPS, name))
    kernel.mount("tmpfs", _CGROUPS, "tmpfs", kernel.REMOUNT | kernel.READ_ONLY)
