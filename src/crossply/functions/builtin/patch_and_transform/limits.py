"""How much a transform may make of little: a few lines of input must not fill the memory."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.patch_and_transform.failure import Failure
from crossply.functions.reply_limits import TooMuchAtOnce, check_deadline, current_limits

MAX_TEXT = 16 * 1024 * 1024
"""The longest text that a transform may make, in characters. No API server would store it."""

SHORT_TEXT = 4 << 10
"""A text of so many characters takes no time to change."""

MUCH_WORK = 256 << 10
"""So many characters, counted once for each change of them, are too much for an event loop."""


def check_work(value: Any, changes: int) -> None:
    """Raise where changing a value so many times takes too long: here, or at all."""
    limits = current_limits()
    if limits.in_event_loop and type(value) is str and len(value) * changes > MUCH_WORK:
        raise TooMuchAtOnce
    check_deadline(limits)


def is_short(value: Any) -> bool:
    """Whether a value is a text that takes no time to change."""
    return type(value) is str and len(value) <= SHORT_TEXT


def check_length(length: int) -> None:
    """Raise Failure when a text would become, or has become, too long."""
    if length > MAX_TEXT:
        raise Failure(f"text is longer than {MAX_TEXT} characters")
