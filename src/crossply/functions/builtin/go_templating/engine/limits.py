"""Limits of a render: time, and the size of values and text.

Templates are untrusted input. Each render has a `Budget`, which the engine charges. Functions that make
large values from small ones call `check_size` first.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

MAX_VALUE = 16 << 20
"""The longest text of one value in characters."""

MAX_ITEMS = 100_000
"""The longest list of a function, and the most items of a printed value."""

MAX_ALLOCATED = 256 << 20
"""About how many bytes all functions of a render may allocate."""

MAX_OUTPUT = 16 << 20
"""The longest rendered text in characters. API servers store less."""

MAX_SECONDS = 10.0
"""How many seconds a render may take."""

MAX_TEMPLATE = 2 << 20
"""The longest text of templates in characters. API servers store less."""

MAX_TEMPLATE_DEPTH = 1000
"""How deep templates may nest; `include` counts by name, as in the published function."""


class LimitExceeded(Exception):
    """A render exceeds a limit. The engine adds the location."""


def check_size(characters: int) -> None:
    if characters > MAX_VALUE:
        raise LimitExceeded(f"text would be longer than {MAX_VALUE} characters")


def check_items(items: int) -> None:
    if items > MAX_ITEMS:
        raise LimitExceeded(f"list would be longer than {MAX_ITEMS} items")


_PER_MAP, _PER_LIST, _PER_VALUE = 240, 88, 56
"""About how many bytes of memory a decoded map, list and any other value take."""


def decoded_size(text: str) -> int:
    """An upper estimate of the bytes that the values of JSON or YAML text take, without decoding it."""
    values = text.count(",") + text.count(":") + text.count("\n")
    return len(text) + _PER_MAP * text.count("{") + _PER_LIST * text.count("[") + _PER_VALUE * values


def copied_size(value: Any) -> int:
    """About how many bytes a deep copy takes; raises LimitExceeded for too many items."""
    size, items, pending = 0, 0, [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict | list):
            size += (_PER_MAP if isinstance(item, dict) else _PER_LIST) + 16 * len(item)
            items += len(item)
            check_items(items)
            pending.extend(item.values() if isinstance(item, dict) else item)
    return size


class Budget:
    """What one render has used. The engine adds to `allocated` itself, and then calls `check`."""

    __slots__ = ("_deadline", "_seconds", "_written", "allocated")

    def __init__(self, seconds: float = MAX_SECONDS) -> None:
        self._seconds = seconds
        self._deadline = monotonic() + seconds
        self.allocated = 0
        """About how many bytes functions have allocated."""
        self._written = 0

    def check_early(self) -> None:
        """Like `check`, but some seconds before the deadline, for calls that cannot be interrupted."""
        if monotonic() > self._deadline - self._seconds / 3:
            raise LimitExceeded(f"rendering takes longer than {self._seconds:g} seconds")

    def write(self, characters: int) -> None:
        """Count rendered text; raises LimitExceeded."""
        self._written += characters
        if self._written > MAX_OUTPUT:
            raise LimitExceeded(f"rendered text is longer than {MAX_OUTPUT} characters")

    def check(self) -> None:
        """Raise LimitExceeded after the deadline, or when functions allocated too much."""
        if self.allocated > MAX_ALLOCATED:
            raise LimitExceeded(f"functions make more than {MAX_ALLOCATED >> 20} MiB of values")
        if monotonic() > self._deadline:
            raise LimitExceeded(f"rendering takes longer than {self._seconds:g} seconds")
