"""Remembering what was made of texts, without keeping texts that are long.

A cache that counts its entries is no limit where somebody else chooses the texts: thousands of them may have
megabytes each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

LONGEST = 256
"""How many characters a text has at most to be remembered. Names and paths are shorter."""

_T = TypeVar("_T")


def cached_for_short_texts(
    entries: int, longest: int = LONGEST
) -> Callable[[Callable[[str], _T]], Callable[[str], _T]]:
    """Remember the results of a function for its last short texts; for long ones it is called each time."""

    def decorate(function: Callable[[str], _T]) -> Callable[[str], _T]:
        remembered = lru_cache(entries)(function)

        @wraps(function)
        def call(text: str) -> _T:
            return remembered(text) if len(text) <= longest else function(text)

        return call

    return decorate
