"""Fields that differ, a line each: added, removed, or with the old and the new value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from crossply.cli.framework.printing import harmless
from crossply.cli.framework.styling import Style
from crossply.values.differences import MISSING, Difference

MOST_FIELDS = 40
"""How many fields of one object are shown; `-o json` has all."""
LONGEST_VALUE = 120


def field_lines(changes: Iterable[Difference], style: Style) -> Iterator[str]:
    """A line for each field that differs."""
    return change_lines([(change.field, change.before, change.after) for change in changes], style)


def change_lines(changes: Sequence[tuple[str, Any, Any]], style: Style) -> Iterator[str]:
    """A line for each field, its old and its new value, which may be MISSING."""
    for field, before, after in changes[:MOST_FIELDS]:
        sign = "+" if before is MISSING else "-" if after is MISSING else "~"
        yield style.sign(sign, f"{sign} {harmless(field) or '(all)'}: {_values(before, after)}")
    if len(changes) > MOST_FIELDS:
        yield f"  and {len(changes) - MOST_FIELDS} more fields; -o json shows all"


def _values(before: Any, after: Any) -> str:
    if before is MISSING:
        return value_text(after)
    if after is MISSING:
        return value_text(before)
    return f"{value_text(before)} → {value_text(after)}"


def value_text(value: Any) -> str:
    """A value in one line of JSON, cropped."""
    text = harmless(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… ({len(text)} characters)"


def indented(lines: Iterable[str], depth: int) -> Iterator[str]:
    """Lines further to the right, also those that a line break is in."""
    margin = "  " * depth
    return (margin + line.replace("\n", "\n" + margin) for line in lines)
