"""Values as short text. Objects are written by anybody: a page shows a part of what is long."""

from __future__ import annotations

from typing import Any

from crossply.values.differences import Missing
from crossply.values.gojson import dumps
from crossply.values.shortened_text import shortened_pair

LINE = 200
"""Characters of a value that is shown in one line."""

BLOCK = 100_000
"""Characters of a value that is shown as a block, such as the YAML of an object."""


def cut(text: str, limit: int = LINE) -> str:
    """The text, or its beginning and how much is left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def one_line(value: Any, limit: int = LINE) -> str:
    """A JSON value in one line; empty for one that is missing."""
    if isinstance(value, Missing):
        return ""
    if isinstance(value, str):
        return cut(value, limit)
    if isinstance(value, dict | list):
        return cut(dumps(_beginning(value, limit)), limit)
    return cut(dumps(value), limit)


def changed_lines(before: Any, after: Any, limit: int = LINE) -> tuple[str, str]:
    """Two JSON values that differ, in one line each; of long texts the part that differs."""
    if isinstance(before, str) and isinstance(after, str):
        return shortened_pair(before, after, limit)
    return one_line(before, limit), one_line(after, limit)


def block(value: Any, limit: int = BLOCK) -> str:
    """A JSON value as YAML; only its beginning where it is long."""
    from crossply.values.yaml import dump

    if isinstance(value, Missing):
        return ""
    return cut(dump(_short_strings(value, limit)), limit)


def _beginning(value: Any, limit: int) -> Any:
    """As much of a value as can matter for so many characters: encoding all of a large one takes long."""
    if isinstance(value, dict):
        return {cut(key, limit): _beginning(value[key], limit) for key in list(value)[:limit]}
    if isinstance(value, list):
        return [_beginning(item, limit) for item in value[:limit]]
    return cut(value, limit) if isinstance(value, str) else value


def _short_strings(value: Any, limit: int) -> Any:
    if isinstance(value, dict):
        return {cut(key, limit): _short_strings(member, limit) for key, member in value.items()}
    if isinstance(value, list):
        return [_short_strings(item, limit) for item in value]
    return cut(value, limit) if isinstance(value, str) else value
