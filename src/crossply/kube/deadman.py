"""A process that was frozen past its fence must not run on, not even to the end of the write it was at.

No check before a write can see to that: the process may be frozen between the check and the write. So the
kernel keeps watch. It delivers a signal that is due before the process executes anything again, and nobody
handles this one: it ends the process.
"""

from __future__ import annotations

import signal
from collections.abc import Callable

Deadman = Callable[[float], None]
"""Called with the seconds after which this process must end unless it is called again; 0 calls it off."""


def kernel_alarm(seconds: float) -> None:
    """End this process with SIGALRM after so many seconds, even if it is stopped in between."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


def no_alarm(seconds: float) -> None:
    """For those who share a process with others and may not end it: the guard alone has to do."""
