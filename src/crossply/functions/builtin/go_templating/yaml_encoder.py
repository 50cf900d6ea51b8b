"""`toYaml`: YAML as go-yaml v3 encodes it.

It differs from the YAML of Kubernetes tools (`values.yaml`): four columns for each level, lists are
indented below their key, and long lines are not folded.
"""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import Failure, Structure
from crossply.functions.builtin.go_templating.engine.limits import LimitExceeded, check_items, check_size
from crossply.values.yaml.emit import in_key_order
from crossply.values.yaml.floats import format_g
from crossply.values.yaml.limits import MAX_DEPTH
from crossply.values.yaml.quoting import (
    DOUBLE,
    LITERAL,
    PLAIN,
    style_of,
    write_double,
    write_literal,
    write_single,
)

_INDENT = 4
_NEVER_FOLDED = -(1 << 40)
"""A column from which no text reaches the margin."""


def to_yaml(value: Any) -> str:
    """Write a value as one document."""
    out: list[str] = []
    _write(value, "", 0, out, 0, after_dash=False)
    text = "".join(out)
    check_size(len(text))
    return text


def _write(value: Any, lead: str, indent: int, out: list[str], depth: int, *, after_dash: bool) -> None:
    """Write a value behind `lead`, its further lines at `indent`."""
    if depth > MAX_DEPTH:
        raise LimitExceeded("value nests too deep for YAML, or contains itself")
    items = _fields(value)
    if items:
        _write_map(items, lead, indent, out, depth)
    elif value and isinstance(value, list | bytes):
        for item in value:
            _write(item, f"{lead}- ", indent + 2, out, depth + 1, after_dash=True)
            lead = " " * indent
    else:
        inner = indent if after_dash else _next(indent) if lead else _INDENT
        out.append(f"{lead}{_scalar(value, inner)}\n")
        check_items(len(out))


def _next(indent: int) -> int:
    """The next column to the right that levels start at."""
    return _INDENT * ((indent + _INDENT) // _INDENT)


def _fields(value: Any) -> list[tuple[str, Any]]:
    """The entries of a map in their order; those of a struct in Go's, with its names in small letters."""
    if isinstance(value, dict):
        return [(key, value[key]) for key in in_key_order(value)]
    if isinstance(value, Structure) and value.fields:
        return [(name.lower(), field) for name, field in value.fields.items()]
    return []


def _write_map(items: list[tuple[str, Any]], lead: str, indent: int, out: list[str], depth: int) -> None:
    inner = _next(indent)
    for key, value in items:
        written = _key(key)
        if _fields(value) or (value and isinstance(value, list | bytes)):
            out.append(f"{lead}{written}:\n")
            _write(value, " " * inner, inner, out, depth + 1, after_dash=False)
        else:
            out.append(f"{lead}{written}: {_scalar(value, inner)}\n")
        lead = " " * indent
    check_items(len(out))


def _key(key: str) -> str:
    style = style_of(key)
    if style is PLAIN:
        return key
    quote = write_double if style in (DOUBLE, LITERAL) else write_single
    return quote(key, _NEVER_FOLDED, 0)


def _scalar(value: Any, indent: int) -> str:
    if isinstance(value, str):
        return _string(value, indent)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, Structure | Failure):
        return _structure(value)
    return "[]"


def _string(text: str, indent: int) -> str:
    style = style_of(text)
    if style is PLAIN:
        return text
    if style is LITERAL or ("\n" in text and "\t" in text and style_of(text.replace("\t", "x")) is LITERAL):
        return _block(text, indent)
    return (write_double if style is DOUBLE else write_single)(text, _NEVER_FOLDED, 0)


def _block(text: str, indent: int) -> str:
    """A literal block. Of a text that starts with an empty line go-yaml loses that line, and so do we."""
    block = write_literal(text, indent)
    if block[1] != "2":
        return block
    block = f"|{_INDENT}{block[2:]}"
    return block.replace("\n", "", 1) if text[0] == "\n" else block


def _float(number: float) -> str:
    if number != number:
        return ".nan"
    if number in (float("inf"), float("-inf")):
        return ".inf" if number > 0 else "-.inf"
    return format_g(repr(number))


def _structure(value: Structure | Failure) -> str:
    """A struct without fields: a time is encoded as such, any other as an empty map."""
    from crossply.functions.builtin.go_templating.sprig.go_time_type import time_of

    time = time_of(value)
    if time is None:
        return "{}"
    from crossply.functions.builtin.go_templating.sprig.date_layouts import shown

    return shown(time, "2006-01-02T15:04:05.999999999Z07:00")
