"""A process that was frozen (SIGSTOP) must not finish the write that it was about to send.

No check before a write can help: the process may be frozen between the check and the write. But the system
tells a process that it goes on again (SIGCONT), and Python runs a signal handler before the next function.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crossply.kube.client import Client


@contextmanager
def severed_when_thawed(client: Client, fresh: Callable[[], bool]) -> Iterator[None]:
    """While inside: break all connections when the process thaws and is no longer fresh. Main thread only."""

    def thawed(*_: object) -> None:
        if not fresh():
            client.sever()

    before = signal.signal(signal.SIGCONT, thawed)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, before)
