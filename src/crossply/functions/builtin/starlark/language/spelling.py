"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, candidates: Iterable[str]) -> str:
    """The candidate that is spelt most like the name; empty if none is. Case and underscores do not count."""
    folded = _folded(name)
    best, best_distance = "", (len(folded) + 1) // 2
    for candidate in candidates:
        distance = edit_distance(folded, _folded(candidate))
        if distance < best_distance:
            best, best_distance = candidate, distance
    return best


def edit_distance(one: str, other: str) -> int:
    """How many characters have to be inserted, deleted or replaced."""
    row = list(range(len(other) + 1))
    for index, character in enumerate(one, 1):
        before, row[0] = row[0], index
        for column, against in enumerate(other, 1):
            before, row[column] = (
                row[column],
                min(before + (character != against), row[column] + 1, row[column - 1] + 1),
            )
    return row[-1]


def _folded(name: str) -> str:
    return name.replace("_", "").lower()
