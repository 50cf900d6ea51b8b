"""Ctrl-C and SIGTERM as an event, for processes that end in order."""

from __future__ import annotations

import asyncio
import os
import signal


def stop_requested() -> asyncio.Event:
    """An event that Ctrl-C or SIGTERM sets; a second one of them ends the process at once."""
    stopped = asyncio.Event()

    def stop(number: int) -> None:
        if stopped.is_set():
            os._exit(128 + number)
        stopped.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop, number)
    return stopped
