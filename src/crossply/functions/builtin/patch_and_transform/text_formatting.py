"""Values as text, compiled Go formats, and limits on the length of text.

Decoded base64 can be any bytes. Between transforms invalid UTF-8 is kept as surrogate escapes; they never
leave the chain of transforms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from crossply.functions.builtin.patch_and_transform.errors import Failure
from crossply.functions.reply_limits import TooMuchAtOnce, check_deadline, current_limits
from crossply.values.goformat import sprintf


def to_text(value: Any) -> str:
    """The text that Go prints for a value."""
    return value if type(value) is str else sprintf("%v", (value,))


def valid_text(text: str) -> str:
    """The text with a replacement character for every byte of invalid UTF-8, as Go reads and writes it."""
    if text.isascii():
        return text
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


Format = Callable[[Sequence[Any]], str]

_MAX_UNCHECKED_VERBS = 16
"""Formats with at most this many verbs are not measured: the size of a request is limited."""


def formatter(text: str, count: int) -> Format:
    """Compile a format of `count` values. Most formats are `%s` with strings, which Python formats faster."""
    plain = _python_format(text, count)
    bounded = (
        _bounded_format(text)
        if text.count("%") > _MAX_UNCHECKED_VERBS
        else lambda values: sprintf(text, values)
    )
    if plain is None:
        return bounded

    def format_texts(values: Sequence[Any]) -> str:
        length = len(plain)
        for value in values:
            if type(value) is not str:
                return bounded(values)
            length += len(value)
        if length > MAX_TEXT:
            check_length(length)
        return plain % tuple(values)

    return format_texts


def _bounded_format(text: str) -> Format:
    """Format after checking the length: a format may repeat a value many times."""
    verbs = text.count("%")

    def format_bounded(values: Sequence[Any]) -> str:
        for value in values:
            check_length(len(text) + verbs * len(sprintf("%v", (value,))))
        return sprintf(text, values)

    return format_bounded


def _python_format(text: str, count: int) -> str | None:
    """The equivalent Python format, if the format has only `%s` and `%v`, one for each value."""
    first, *rest = text.split("%")
    if len(rest) != count or not all(piece[:1] in ("s", "v") for piece in rest):
        return None
    return "%s".join([first, *(piece[1:] for piece in rest)])


MAX_TEXT = 16 * 1024 * 1024
"""The longest text that a transform may make, in characters. API servers store far less."""

SHORT_TEXT = 4 << 10
"""Transforms of texts up to this many characters are not checked against limits."""

MAX_EVENT_LOOP_WORK = 256 << 10
"""How many characters, counted once for each transform, may be processed in an event loop."""


def check_work(value: Any, changes: int) -> None:
    """Raise TooMuchAtOnce in an event loop when the work is long, or LimitExceeded after the deadline."""
    limits = current_limits()
    if limits.in_event_loop and type(value) is str and len(value) * changes > MAX_EVENT_LOOP_WORK:
        raise TooMuchAtOnce
    check_deadline(limits)


def is_short(value: Any) -> bool:
    return type(value) is str and len(value) <= SHORT_TEXT


def check_length(length: int) -> None:
    """Raise Failure when a text is, or would become, too long."""
    if length > MAX_TEXT:
        raise Failure(f"text is longer than {MAX_TEXT} characters")
