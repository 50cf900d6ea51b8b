"""Look up a value by a gjson path, in which function-cidr refers to the context.

Supported are fields, wildcards (`*`, `?`), indices, `#`, queries (`#(name=="a").cidr`, `#(...)#`), the pipe
and the modifiers that reorder values. Multipaths, literals and the other modifiers are errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.functions.builtin.cidr.gjson_array_query import PathSyntaxError, Query, is_match, parse_query
from crossply.functions.reply_limits import check_deadline, current_limits
from crossply.values import Object
from crossply.values.regexp import RegexpError, compile_go

ABSENT = object()
"""What a path leads to that leads nowhere."""

_MAX_LENGTH = 1024
_MODIFIERS: dict[str, Callable[[Any], Any]] = {
    "this": lambda value: value,
    "valid": lambda value: value,
    "ugly": lambda value: value,
    "pretty": lambda value: value,
    "reverse": lambda value: value[::-1] if isinstance(value, list) else value,
    "keys": lambda value: sorted(value) if isinstance(value, dict) else [],
    "values": lambda value: _values(value) if isinstance(value, dict) else value,
    "flatten": lambda value: _flattened(value) if isinstance(value, list) else value,
}
_UNSUPPORTED_MODIFIERS = frozenset({"join", "tostr", "fromstr", "group", "dig"})


def lookup(document: Object, path: str) -> Any:
    """The value at a path, or ABSENT; raises PathSyntaxError for a path that is not supported."""
    if len(path) > _MAX_LENGTH:
        raise PathSyntaxError(f"path is longer than {_MAX_LENGTH} characters")
    try:
        return _get(document, path)
    except RegexpError as error:
        raise PathSyntaxError(str(error)) from None
    except RecursionError:
        raise PathSyntaxError("path nests too deep") from None


def _get(value: Any, path: str) -> Any:
    limits = current_limits()
    while path:
        check_deadline(limits)
        if path[0] in "@!{[" or path.startswith(".."):
            value, path = _modified(value, path)
        elif isinstance(value, dict):
            value, path = _in_object(value, path)
        elif isinstance(value, list):
            value, path = _in_array(value, path)
        else:
            return ABSENT
        if value is ABSENT:
            return ABSENT
    return value


class _Component(NamedTuple):
    """The first part of a path."""

    pattern: Any
    """What a field must match, where the part has wildcards."""
    text: str
    rest: str
    is_piped: bool


def _component(path: str) -> _Component:
    plain, pattern, has_wildcards, position = "", "", False, 0
    while position < len(path) and path[position] not in ".|":
        char = path[position]
        is_escaped = char == "\\" and position + 1 < len(path)
        if is_escaped:
            position += 1
            char = path[position]
        plain += char
        is_wildcard = not is_escaped and char in "*?"
        has_wildcards |= is_wildcard
        pattern += {"*": "*", "?": "?"}[char] if is_wildcard else f"\\{char}"
        position += 1
    wildcards = wildcard_pattern(pattern) if has_wildcards else None
    return _Component(wildcards, plain, path[position + 1 :], path[position : position + 1] == "|")


def wildcard_pattern(text: str) -> Any:
    """A pattern for `fullmatch`."""
    pattern, position = "", 0
    while position < len(text):
        char = text[position]
        if char in "*?":
            pattern += ".*" if char == "*" else "."
        else:
            if char == "\\" and position + 1 < len(text):
                position += 1
            pattern += re.escape(text[position])
        position += 1
    return compile_go(f"(?s){pattern}")


def _in_object(value: Object, path: str) -> tuple[Any, str]:
    component = _component(path)
    if component.pattern is None:
        return value.get(component.text, ABSENT), component.rest
    matching = (value[name] for name in sorted(value) if component.pattern.fullmatch(name))
    if component.is_piped:
        return next(matching, ABSENT), component.rest
    values = (_get(inner, component.rest) for inner in matching)
    return next((inner for inner in values if inner is not ABSENT), ABSENT), ""


def _in_array(value: list[Any], path: str) -> tuple[Any, str]:
    if path.startswith(("#(", "#[")):
        query, rest = parse_query(path)
        return _selected(value, query, rest)
    if path.startswith("#."):
        return _values_in_items(value, path[2:])
    component = _component(path)
    if component.text == "#":
        return float(len(value)), component.rest
    if not (component.text.isascii() and component.text.isdigit()) or len(component.text) > 9:
        return ABSENT, ""
    index = int(component.text)
    return (value[index] if index < len(value) else ABSENT), component.rest


def _selected(value: list[Any], query: Query, rest: str) -> tuple[Any, str]:
    matching = [item for item in value if is_match(_queried(item, query), query, wildcard_pattern)]
    if query.selects_all:
        return _values_in_items(matching, rest[1:]) if rest.startswith(".") else (matching, rest[1:])
    return (matching[0] if matching else ABSENT), rest[1:]


def _queried(item: Any, query: Query) -> Any:
    """The value that a query compares: the item, or what its path leads to; None is absent."""
    if not query.path:
        return item
    value = _get(item, query.path) if isinstance(item, dict | list) else ABSENT
    return None if value is ABSENT else value


def _values_in_items(items: list[Any], path: str) -> tuple[Any, str]:
    """What a path leads to from each item, and the path after a pipe."""
    inner, _, rest = _split_at_pipe(path)
    values = (_get(item, inner) for item in items)
    return [value for value in values if value is not ABSENT], rest


def _split_at_pipe(path: str) -> tuple[str, str, str]:
    depth = 0
    for position, char in enumerate(path):
        depth += (char in "([") - (char in ")]")
        if char == "|" and not depth and path[position - 1 : position] != "\\":
            return path[:position], "|", path[position + 1 :]
    return path, "", ""


def _modified(value: Any, path: str) -> tuple[Any, str]:
    end = next((index for index, char in enumerate(path) if char in ".|:"), len(path))
    name = path[1:end]
    if path[0] == "@" and name in _MODIFIERS and path[end : end + 1] != ":":
        return _MODIFIERS[name](value), path[end + 1 :]
    if path[0] == "@" and name not in _UNSUPPORTED_MODIFIERS and isinstance(value, dict):
        return _in_object(value, path)
    raise PathSyntaxError(
        f"{path!r}: use fields, indices, wildcards, queries and the modifiers "
        + ", ".join(f"@{name}" for name in sorted(_MODIFIERS))
    )


def _values(value: Object) -> list[Any]:
    return [value[name] for name in sorted(value)]


def _flattened(value: list[Any]) -> list[Any]:
    return [inner for item in value for inner in (item if isinstance(item, list) else [item])]
