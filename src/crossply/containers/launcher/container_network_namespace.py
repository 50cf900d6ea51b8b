"""The network namespace of a container that pasta connects to the network of this machine.

One process holds the namespace, and pasta joins it. Both are children of the launcher, and end with it.
"""

from __future__ import annotations

import os
import signal
import time
from typing import NoReturn

from crossply.containers.launcher import syscalls as kernel

_TIMEOUT, _POLL = 10.0, 0.005
_LONGEST_REASON = 2000


class NetworkFailed(OSError):
    """A network could not be made."""


class OwnNetwork:
    """The two processes of one container's network."""

    def __init__(self, directory: str, command: list[str]) -> None:
        """Make the namespace and connect it; raises NetworkFailed where that does not work."""
        self._pid_file = os.path.join(directory, "pasta.pid")
        self._log = os.path.join(directory, "pasta.log")
        self.holder = _start_holder()
        self.pasta = 0
        places = {"{netns}": f"/proc/{self.holder}/ns/net", "{pidfile}": self._pid_file}
        try:
            self.pasta = _start_pasta([places.get(word, word) for word in command], self._log)
            self._wait_until_connected()
        except OSError:
            self.remove()
            raise

    def _wait_until_connected(self) -> None:
        """Pasta writes its process identifier once everything is in place."""
        end = time.monotonic() + _TIMEOUT
        while not _size(self._pid_file):
            if os.waitpid(self.pasta, os.WNOHANG)[0]:
                self.pasta = 0
                raise NetworkFailed(0, f"pasta does not connect its network: {self._reason()}")
            if time.monotonic() > end:
                raise NetworkFailed(0, f"pasta does not connect its network within {_TIMEOUT:g} s")
            time.sleep(_POLL)

    def _reason(self) -> str:
        with open(self._log, encoding="utf-8", errors="replace") as file:
            lines = file.read(_LONGEST_REASON).splitlines()
        # Each line begins with the time.
        return "; ".join(line.partition(": ")[2] or line for line in lines if "syslog" not in line)

    def remove(self) -> None:
        """End both."""
        for pid in filter(None, (self.pasta, self.holder)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def _start_holder() -> int:
    read, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        _hold(ready)
    os.close(ready)
    byte = os.read(read, 1)
    os.close(read)
    if not byte:
        raise OSError(0, "the network of the container could not be made")
    return pid


def _hold(ready: int) -> NoReturn:
    try:
        _become_child()
        kernel.unshare(kernel.NEW_NETWORK)
        kernel.bring_loopback_up()
        # Also so that pasta, which has fewer privileges than we, may look at the namespace of this process.
        kernel.give_up_privileges()
        os.write(ready, b"1")
        while True:
            signal.pause()
    finally:
        os._exit(1)


def _start_pasta(command: list[str], log: str) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            _become_child()
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and pasta takes that amiss
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.execv(command[0], command)
        except OSError as problem:
            os.write(2, f"{command[0]}: {problem}\n".encode())
        finally:
            os._exit(126)
    return pid


def _become_child() -> None:
    kernel.die_with_parent()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
