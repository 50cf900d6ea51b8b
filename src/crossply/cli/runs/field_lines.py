"""Fields that differ, a line each: added, removed, or with the old and the new value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import Style
from crossply.runs.effect_differences import placeholder_in
from crossply.values.differences import MISSING, Difference, Path
from crossply.values.shortened_text import shortened, shortened_pair

MOST_FIELDS = 40
"""How many fields of one object are shown; `-o json` has all."""
LONGEST_VALUE = 120


class ChangedField(NamedTuple):
    """A field, its old and its new value, which may be MISSING, and where the new one comes from."""

    field: str
    before: Any
    after: Any
    origin: str = ""


def field_lines(
    changes: Iterable[Difference], style: Style, origin: Callable[[Path], str] = lambda _: ""
) -> Iterator[str]:
    """A line for each field that differs."""
    fields = [
        ChangedField(
            change.field, change.before, change.after, "" if change.after is MISSING else origin(change.path)
        )
        for change in changes
    ]
    return change_lines(fields, style)


def change_lines(fields: Sequence[ChangedField], style: Style) -> Iterator[str]:
    """A line for each field."""
    for field in fields[:MOST_FIELDS]:
        sign = "+" if field.before is MISSING else "-" if field.after is MISSING else "~"
        line = style.sign(sign, f"{sign} {harmless(field.field) or '(all)'}: {_values(field)}")
        yield line + (style.dim(f"  ← {harmless(field.origin)}") if field.origin else "")
    if len(fields) > MOST_FIELDS:
        yield f"  and {len(fields) - MOST_FIELDS} more fields; -o json shows all"


def _values(field: ChangedField) -> str:
    if field.before is MISSING:
        return value_text(field.after)
    if field.after is MISSING:
        return value_text(field.before)
    before, after = shortened_pair(_json_text(field.before), _json_text(field.after), LONGEST_VALUE)
    return f"{before} → {after}"


def value_text(value: Any) -> str:
    """A value in one line of JSON, cropped."""
    return shortened(_json_text(value), LONGEST_VALUE)


def _json_text(value: Any) -> str:
    """A value in one line of JSON; a placeholder for a secret also where it is in base64."""
    placeholder = placeholder_in(value)
    if placeholder and placeholder not in value:
        return f"{placeholder} (in base64)"
    return harmless(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def indented(lines: Iterable[str], depth: int) -> Iterator[str]:
    """Lines further to the right, also those that a line break is in."""
    margin = "  " * depth
    return (margin + line.replace("\n", "\n" + margin) for line in lines)
