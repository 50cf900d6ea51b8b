"""The clock and the random source of sprig functions. Tests replace them."""

from __future__ import annotations

from collections.abc import Sequence
from os import urandom
from time import time_ns
from typing import TypeVar

_Item = TypeVar("_Item")

clock = time_ns
"""Nanoseconds since 1970; replaced by tests."""

random_bytes = urandom
"""Random bytes, fit for secrets; replaced by tests."""


def random_below(limit: int) -> int:
    """An integer from zero up to limit, without it, each as likely as the other."""
    size = (limit.bit_length() + 7) // 8
    # Numbers at the end of the range would favour small results: draw again.
    fair = (1 << 8 * size) // limit * limit
    while True:
        number = int.from_bytes(random_bytes(size), "big")
        if number < fair:
            return number % limit


def random_choices(alphabet: str, count: int) -> str:
    """So many characters of an alphabet of at most 256."""
    fair = 256 // len(alphabet) * len(alphabet)
    chosen: list[str] = []
    while len(chosen) < count:
        missing = count - len(chosen)
        chosen += [alphabet[byte % len(alphabet)] for byte in random_bytes(missing + 16) if byte < fair][
            :missing
        ]
    return "".join(chosen)


def shuffled(items: Sequence[_Item]) -> list[_Item]:
    """The items in random order."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = random_below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order
