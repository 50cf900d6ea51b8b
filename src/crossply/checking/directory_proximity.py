"""Which of several objects belongs to a file: in a repository of many parts, the nearest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def nearest(file: str, candidates: Iterable[T], file_of: Callable[[T], str]) -> list[T]:
    """The candidates whose directories have the most in common with that of a file."""
    ranked = [(_common(file, file_of(candidate)), candidate) for candidate in candidates]
    best = max((rank for rank, _ in ranked), default=0)
    return [candidate for rank, candidate in ranked if rank == best]


def by_distance(file: str, candidates: Iterable[T], file_of: Callable[[T], str]) -> list[T]:
    """All candidates, the nearest last."""
    return sorted(candidates, key=lambda candidate: _common(file, file_of(candidate)))


def _common(one: str, other: str) -> int:
    """How many directories two files have in common, from the root."""
    parts = zip(_directories(one), _directories(other), strict=False)
    count = 0
    for left, right in parts:
        if left != right:
            break
        count += 1
    return count


def _directories(file: str) -> list[str]:
    return os.path.dirname(os.path.abspath(file)).split(os.sep)
