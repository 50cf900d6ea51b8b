"""Compares an actual value with an expected one, completely or as a subset.

In part means: every field that is expected is there with its value. An expected null means that the field
is not there. Items of lists that have names (or types) are found by them, and there may be others; all other
lists have as many items as are expected.
"""

from __future__ import annotations

from typing import Any

from crossply.testing.suite import EXACT, Path
from crossply.values.differences import MISSING, Difference, Item, Segment, differences


def mismatches(expected: Any, actual: Any, match: str) -> list[Difference]:
    """Every field that differs: `before` is the expected value, `after` the actual one."""
    changes = [difference for difference in differences(expected, actual) if not _is_same(difference)]
    if match == EXACT:
        return changes
    return [
        difference
        for difference in changes
        if difference.before is not MISSING or _is_beyond_a_list(expected, difference.path)
    ]


def _is_same(difference: Difference) -> bool:
    """Numbers have one type in JSON, and null is as good as absent."""
    one, other = difference.before, difference.after
    if one is None and other is MISSING:
        return True
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other))
    return numbers and bool(one == other)


def _is_beyond_a_list(expected: Any, path: tuple[Segment, ...]) -> bool:
    """Whether a field that was not expected is an item more than an expected list has."""
    for segment in path:
        if isinstance(expected, list):
            if not expected or (type(segment) is int and segment >= len(expected)):
                return True
            expected = _item(expected, segment)
        elif isinstance(expected, dict):
            expected = expected.get(str(segment), MISSING)
        else:
            return False
    return False


def _item(items: list[Any], segment: Segment) -> Any:
    index = index_of(items, segment)
    return MISSING if index is None else items[index]


def index_of(items: list[Any], segment: Segment) -> int | None:
    """The index of the item that a segment of a path means."""
    if not isinstance(segment, Item):
        return segment if isinstance(segment, int) and segment < len(items) else None
    for index, item in enumerate(items):
        if isinstance(item, dict) and str(segment) in (item.get("name"), item.get("type")):
            return index
    return None


def written_path(expected: Any, path: tuple[Segment, ...]) -> Path:
    """The path at which an expected field was written, as far as it was; items of lists by number."""
    written: list[str | int] = []
    for segment in path:
        key: Any = index_of(expected, segment) if isinstance(expected, list) else str(segment)
        if key is None or not (
            isinstance(expected, list) or (isinstance(expected, dict) and key in expected)
        ):
            break
        written.append(key)
        expected = expected[key]
    return tuple(written)
