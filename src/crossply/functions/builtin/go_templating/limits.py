"""How much a render may take: time, and the size of what it makes.

A template is somebody's input. `Budget` belongs to one render and is charged by the engine; `check_size`
is for functions that make much of little, before they make it.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

MAX_VALUE = 16 << 20
"""The largest text, in characters, that one value may have."""

MAX_ITEMS = 100_000
"""The longest list that a function may make, and the most items of a value that is printed."""

MAX_MADE = 256 << 20
"""About how many bytes all functions of a render may make."""

MAX_OUTPUT = 16 << 20
"""How long the rendered text may be, in characters. No API server would store what it describes."""

MAX_SECONDS = 10.0
"""How long a render may take."""

MAX_TEMPLATE = 2 << 20
"""How long the text of the templates may be, in characters; more than an API server would store."""

MAX_TEMPLATE_DEPTH = 1000
"""How deep templates may render one another; `include` counts by name, as the published function does."""


class TooLarge(Exception):
    """A template wants more than a render may take. The engine tells where."""


def check_size(characters: int) -> None:
    """Refuse a text that would be too long."""
    if characters > MAX_VALUE:
        raise TooLarge(f"text would be longer than {MAX_VALUE} characters")


def check_items(items: int) -> None:
    """Refuse a list that would be too long."""
    if items > MAX_ITEMS:
        raise TooLarge(f"list would be longer than {MAX_ITEMS} items")


_PER_MAP, _PER_LIST, _PER_VALUE = 240, 88, 56
"""About how many bytes of memory a decoded map, list and any other value take."""


def decoded_size(text: str) -> int:
    """About how many bytes the values in JSON or YAML take at most, without decoding it."""
    values = text.count(",") + text.count(":") + text.count("\n")
    return len(text) + _PER_MAP * text.count("{") + _PER_LIST * text.count("[") + _PER_VALUE * values


def copied_size(value: Any) -> int:
    """About how many bytes a deep copy takes; TooLarge where it has too many items."""
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
    """What one render has used. The engine counts what is `made` itself, and then calls `check`."""

    __slots__ = ("_deadline", "_seconds", "_written", "made")

    def __init__(self, seconds: float = MAX_SECONDS) -> None:
        self._seconds = seconds
        self._deadline = monotonic() + seconds
        self.made = 0
        """About how many bytes functions have made."""
        self._written = 0

    def check_nearly(self) -> None:
        """Like `check`, but with a few seconds to spare for what cannot be stopped once it has begun."""
        if monotonic() > self._deadline - self._seconds / 3:
            raise TooLarge(f"rendering takes longer than {self._seconds:g} seconds")

    def write(self, characters: int) -> None:
        """Count rendered text; TooLarge when there is too much of it."""
        self._written += characters
        if self._written > MAX_OUTPUT:
            raise TooLarge(f"rendered text is longer than {MAX_OUTPUT} characters")

    def check(self) -> None:
        """Raise TooLarge once the time is up, or too much was made."""
        if self.made > MAX_MADE:
            raise TooLarge(f"functions make more than {MAX_MADE >> 20} MiB of values")
        if monotonic() > self._deadline:
            raise TooLarge(f"rendering takes longer than {self._seconds:g} seconds")
