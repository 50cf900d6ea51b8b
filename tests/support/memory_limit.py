"""Python programs that run with a limit on their memory."""

from __future__ import annotations

import subprocess
import sys
import textwrap


def run_within(limit: int, program: str) -> str:
    """Run a program whose address space is at most `limit` bytes; return what it printed."""
    # The program limits itself: with `preexec_fn` the fork handlers of gRPC run in this process's child,
    # and abort it now and then when the child's files are closed.
    limiting = (
        "import resource\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
        "from tests.support.memory_limit import most_memory\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", limiting + textwrap.dedent(program)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def most_memory() -> int:
    """The most bytes of memory that this process has had.

    Unlike `ru_maxrss` this is not that of the process which started it, where that was larger.
    """
    with open("/proc/self/status") as file:
        return int(file.read().partition("VmHWM:")[2].split()[0]) << 10
