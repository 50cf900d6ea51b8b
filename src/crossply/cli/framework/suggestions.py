"""Name the flags or commands a misspelt word may have meant."""

from __future__ import annotations

CLOSE = 2
"""How many letters may differ in a word that is still suggested."""


def with_suggestions(sentence: str, word: str, *candidates: list[str]) -> str:
    """Add `, did you mean …?` for the names near the word, from the first list that has some."""
    near = next(filter(None, (_near(word, names) for names in candidates)), [])
    if not near:
        return sentence
    if len(near) == 1:
        return f"{sentence}, did you mean {near[0]}?"
    return f"{sentence}, did you mean one of {', '.join(near)}?"


def _near(word: str, names: list[str]) -> list[str]:
    return [f'"{name}"' for name in names if name.startswith(word) or _distance(name, word) <= CLOSE]


def _distance(left: str, right: str) -> int:
    """Count the letters to insert, delete or replace to turn one word into the other (Levenshtein)."""
    if abs(len(left) - len(right)) > CLOSE:
        return CLOSE + 1  # it cannot be near; a very long word costs nothing
    row = list(range(len(right) + 1))
    for i, letter in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(right, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (letter != other))
    return row[-1]
