"""Long texts cut to a line: their beginning, or what is around the place where two of them differ."""

from __future__ import annotations


def shortened(text: str, limit: int, start: int = 0) -> str:
    """So many characters of a text from `start`, and how many it has; a text that is no longer is whole."""
    if len(text) <= limit:
        return text
    part = text[start : start + limit]
    before, after = "…" if start else "", "…" if start + limit < len(text) else ""
    return f"{before}{part}{after} ({len(text)} characters)"


def shortened_pair(before: str, after: str, limit: int) -> tuple[str, str]:
    """Two texts that differ, each cut so that the first difference is in it."""
    if len(before) <= limit >= len(after):
        return before, after
    same = _common_length(before, after)
    start = 0 if same < limit * 3 // 4 else same - limit // 4
    return shortened(before, limit, start), shortened(after, limit, start)


def _common_length(one: str, other: str) -> int:
    """How many characters both begin with; slices are compared, since users control how long texts are."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
