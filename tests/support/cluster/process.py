"""One server program of the real cluster: started with a log of its own, waited for, ended for certain."""

from __future__ import annotations

import collections
import ctypes
import os
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Sequence

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LIBC = ctypes.CDLL(None, use_errno=True)


class ClusterFailed(Exception):
    """A program of the cluster did not start; the message ends with the end of its log."""


class ServerProcess:
    """A running server program, known by its process id and by the file it runs."""

    def __init__(self, name: str, pid: int, log: str) -> None:
        self.name = name
        self.pid = pid
        self.log = log
        self.child: subprocess.Popen[bytes] | None = None

    @classmethod
    def start(cls, command: Sequence[str], log: str, outlive_us: bool) -> ServerProcess:
        """Start a program; unless it may outlive us, the kernel ends it when we end, however we end."""
        with open(log, "ab") as output:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for us alone: we end the programs in the right order
                preexec_fn=None if outlive_us else die_with(os.getpid()),
            )
        started = cls(os.path.basename(command[0]), child.pid, log)
        started.child = child
        return started

    def alive(self) -> bool:
        """Whether the program still runs; another program that has got its process id does not count."""
        if self.child is not None:
            return self.child.poll() is None
        try:
            program = os.readlink(f"/proc/{self.pid}/exe").removesuffix(" (deleted)")
        except OSError:
            return False
        return os.path.basename(program) == self.name

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> None:
        """Wait until the program is ready, or fail as soon as it cannot become so."""
        deadline = time.monotonic() + seconds
        while not ready():
            if not self.alive():
                raise ClusterFailed(f"{self.name} ended while starting\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise ClusterFailed(f"{self.name} was not ready after {seconds:.0f} s\n{self.log_tail()}")
            time.sleep(0.05)

    def stop(self, grace: float = 5.0) -> None:
        """Ask the program to end, then make it."""
        for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, 10.0)):
            if not self.alive():
                return
            os.kill(self.pid, number)
            self._wait(seconds)

    def log_tail(self, lines: int = 20) -> str:
        """The end of the program's log, with its place."""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            tail = "".join(collections.deque(file, lines))
        return f"the end of {self.log}:\n{tail}"

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self.alive() and time.monotonic() < deadline:
            time.sleep(0.02)


def die_with(parent: int) -> Callable[[], None]:
    """What a child does before it becomes another program, to be killed when its parent ends.

    The kernel means the thread that started the child: use one that lives as long as the child.
    """

    def ask_the_kernel() -> None:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before we could ask
            os.kill(os.getpid(), signal.SIGKILL)

    return ask_the_kernel


def adopt_orphans() -> None:
    """From now on, an orphaned descendant becomes our child instead of running on alone."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_children(but: Collection[int]) -> list[str]:
    """Kill every child except these, and every orphan that becomes ours by that; return the killed ones."""
    killed = []
    while children := [pid for pid in _children() if pid not in but]:
        for pid in children:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                command = file.read().replace("\0", " ").strip()
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            killed += [command] if command else []  # one that had ended already has no command line
    return killed


def _children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


def answers(url: str, tls: ssl.SSLContext | None = None, token: str = "") -> bool:
    """Whether a GET of this URL succeeds."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    # An empty list of proxies: the servers are on this machine, whatever the environment has.
    handlers = [urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=tls)]
    try:
        with urllib.request.build_opener(*handlers).open(
            urllib.request.Request(url, headers=headers), timeout=5
        ):
            return True
    except (urllib.error.URLError, OSError):
        return False
