"""A compiled expression that cannot take more than its share of memory and time.

Where the expression and the size of its data show that little can come of it, it is evaluated here. All
others are evaluated in a process of their own, which has limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

LARGEST_DATA = 8 << 20
"""The most bytes of data that requests can bring; data that is certainly below is not measured."""

MOST_BYTES = 16 << 20
"""How much an expression may read and write in this process: up to some tens of milliseconds of work."""

SMALL_VARIABLES = 1 << 20
"""Up to how many bytes composed variables count as part of the largest data."""

_SIZES = tuple(LARGEST_DATA >> shift for shift in range(0, 24, 2))

SECONDS_TOGETHER = 10.0
"""How long all expressions about one object may take."""


_may_block: ContextVar[bool] = ContextVar("may_block", default=True)


class WouldBlock(Exception):
    """An expression needs the process, and its caller must not wait for it."""


@contextmanager
def without_blocking() -> Iterator[None]:
    """Raise `WouldBlock` instead of waiting for the process."""
    token = _may_block.set(False)
    try:
        yield
    finally:
        _may_block.reset(token)


def may_block() -> bool:
    """Whether the caller may take its time, as in a thread of its own."""
    return _may_block.get()


class Program:
    """An expression, its text, and how large its data may be to evaluate it here."""

    __slots__ = ("_compiled", "_largest", "text")

    def __init__(self, compiled: Any, text: str) -> None:
        self._compiled = compiled
        self._largest: int | None = None
        self.text = text

    def evaluate(self, data: Mapping[str, Any], composed: int = 0) -> tuple[Any, str]:
        """The plain value, or why there is none; `composed` is the size of variables beside the request."""
        if self._is_small(data, composed):
            return _evaluate(self._compiled, data)
        if not _may_block.get():
            raise WouldBlock
        from crossply.schema.cel_process import evaluate_confined

        return evaluate_confined(self.text, data)

    def _is_small(self, data: Mapping[str, Any], composed: int) -> bool:
        if self._largest is None:
            self._largest = largest_data(self._compiled)
        if self._largest == LARGEST_DATA and composed <= SMALL_VARIABLES:
            return True
        return data_size(data, self._largest) <= self._largest


def largest_data(compiled: Any) -> int:
    """How many bytes of data an expression may have to be evaluated in this process; -1 for none at all."""
    from crossply.schema.cel_ast import read_checked
    from crossply.schema.cel_memory_bounds import most_bytes

    root = read_checked(compiled.serialize()).root
    return next((size for size in _SIZES if most_bytes(root, size) <= MOST_BYTES), -1)


def data_size(value: Any, most: float) -> int:
    """How many bytes data takes, roughly; any number beyond `most` where it takes more."""
    size, rest = 0, [value]
    while rest:
        item = rest.pop()
        if isinstance(item, str | bytes):
            size += len(item) + 3
        elif isinstance(item, Mapping):
            size += 8 * len(item) + sum(map(len, item))
            rest.extend(item.values())
        elif isinstance(item, list):
            size += 4 * len(item)
            rest.extend(item)
        else:
            size += 9
        if size > most:
            break
    return size


def _evaluate(compiled: Any, data: Mapping[str, Any]) -> tuple[Any, str]:
    try:
        result = compiled.eval(data=data)
    except RuntimeError as problem:
        return None, str(problem)
    if str(result.type()) == "ERROR":
        return None, str(result.value())
    return result.plain_value(), ""
