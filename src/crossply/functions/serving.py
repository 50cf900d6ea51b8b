"""The life of a server that has the process for itself: from its start to SIGTERM or SIGINT."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crossply.functions.server import Server


def serve_until_signal(start: Callable[[], Server]) -> None:
    """Start a server, wait until a signal ends it, and let the running calls finish."""
    signals = _block_signals()
    server = start()
    signal.sigwait(signals)
    server.stop()


def _block_signals() -> set[signal.Signals]:
    """Keep the signals that end the server until they are waited for, in this thread and those it starts.

    A handler would run in the main thread only, which a signal that another thread takes does not wake.
    """
    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    return signals
