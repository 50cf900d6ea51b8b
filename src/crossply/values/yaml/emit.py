"""Values written as YAML, byte for byte as Go's sigs.k8s.io/yaml writes them.

Keys are sorted, maps are indented by two spaces, lists stand at the indentation of their key.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cmp_to_key
from typing import Any

from crossply.values.cancellation import checkpoint
from crossply.values.yaml.errors import LimitError, YamlError
from crossply.values.yaml.floats import format_g, to_yaml
from crossply.values.yaml.limits import MAX_DEPTH
from crossply.values.yaml.quoting import (
    DOUBLE,
    LITERAL,
    PLAIN,
    WIDTH,
    style_of,
    write_double,
    write_literal,
    write_plain,
    write_single,
)

_LONGEST_SIMPLE_KEY = 128


def dump(value: Any) -> str:
    """Write a JSON value as one YAML document."""
    out: list[str] = []
    try:
        _write_node(value, "", 0, 0, out)
    except RecursionError:
        raise LimitError("yaml: exceeded max depth") from None
    return "".join(out)


def dump_all(values: Iterable[Any]) -> str:
    """Write several documents, each one after a separator line."""
    return "".join(f"---\n{dump(value)}" for value in values)


def _write_node(value: Any, lead: str, indent: int, depth: int, out: list[str]) -> None:
    """Write what follows `lead` on a line of its own: the root, an item of a list, a complex key's value."""
    if value and isinstance(value, dict):
        _write_map(value, lead, indent, depth + 1, out)
    elif value and isinstance(value, list | tuple):
        _write_list(value, lead, indent, depth + 1, out)
    else:
        scalar_indent = indent or 2
        out.append(f"{lead}{_scalar(value, len(lead), scalar_indent)}\n")


def _write_map(value: dict[str, Any], lead: str, indent: int, depth: int, out: list[str]) -> None:
    _check_depth(depth)
    pad = " " * indent
    for key in in_key_order(value):
        checkpoint()
        item = value[key]
        written = _key(key)
        if written is None:
            _write_complex_entry(key, item, lead, indent, depth, out)
        elif not item or not isinstance(item, dict | list | tuple):
            column = indent + len(written) + 2
            out.append(f"{lead}{written}: {_scalar(item, column, indent + 2)}\n")
        else:
            out.append(f"{lead}{written}:\n")
            if isinstance(item, dict):
                _write_map(item, pad + "  ", indent + 2, depth + 1, out)
            else:
                _write_list(item, pad, indent, depth + 1, out)
        lead = pad


def _write_list(items: Iterable[Any], lead: str, indent: int, depth: int, out: list[str]) -> None:
    _check_depth(depth)
    pad = " " * indent
    for item in items:
        checkpoint()
        _write_node(item, lead + "- ", indent + 2, depth, out)
        lead = pad


def _write_complex_entry(key: str, item: Any, lead: str, indent: int, depth: int, out: list[str]) -> None:
    """Write a key that is too long for one line, or has several, after a question mark."""
    out.append(f"{lead}? {_string(key, indent + 2, indent + 2)}\n")
    _write_node(item, " " * indent + ": ", indent + 2, depth, out)


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise LimitError(f"yaml: exceeded max depth of {MAX_DEPTH}")


def _key(key: str) -> str | None:
    """Write a key that fits on its line; None when it does not."""
    if len(key) > _LONGEST_SIMPLE_KEY // 4 and _bytes_in(key) > _LONGEST_SIMPLE_KEY:
        return None
    style = style_of(key)
    if style is PLAIN:
        return key
    if style is LITERAL or not _BREAKS.isdisjoint(key):
        return None
    # Keys are never folded: from this far to the left no key reaches the margin.
    far_left = -10 * _LONGEST_SIMPLE_KEY
    return write_double(key, far_left, 0) if style is DOUBLE else write_single(key, far_left, 0)


def _bytes_in(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


_BREAKS = frozenset("\n\r\x85\u2028\u2029")


def _scalar(value: Any, column: int, indent: int) -> str:
    if isinstance(value, str):
        return _string(value, column, indent)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if -(1 << 63) <= value < 1 << 64 else format_g(repr(float(value)))
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    raise YamlError(f"error marshaling into JSON: json: unsupported type: {type(value).__name__}")


def _float(value: float) -> str:
    if value - value != 0:
        shown = "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
        raise YamlError(f"error marshaling into JSON: json: unsupported value: {shown}")
    return to_yaml(value)


def _string(text: str, column: int, indent: int) -> str:
    style = style_of(text)
    if style is PLAIN:
        return text if column + len(text) <= WIDTH else write_plain(text, column, indent)
    if style is LITERAL:
        return write_literal(text, indent)
    return (write_double if style is DOUBLE else write_single)(text, column, indent)


# Without these characters the natural order and the order of code points are the same: digits compare as
# numbers, and what is not a letter comes before all letters, also when its code point lies behind them.
_NEEDS_CARE = frozenset("0123456789[\\]^_`{|}~")


def in_key_order(keys: Iterable[str]) -> list[str]:
    """Sort keys as go-yaml does."""
    plain = sorted(keys)
    joined = "".join(plain)
    if joined.isalpha() or (joined.isascii() and _NEEDS_CARE.isdisjoint(joined)):
        return plain
    return sorted(plain, key=cmp_to_key(_compare))


def _compare(left: str, right: str) -> int:
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return -1 if _less(left, right, index) else 1
    return len(left) - len(right)


def _less(left: str, right: str, index: int) -> bool:
    """Decide at the first character that differs."""
    a, b = left[index], right[index]
    if a.isalpha() or b.isalpha():
        return a < b if a.isalpha() and b.isalpha() else b.isalpha()
    start = _carried(left, index) if "0" in (a, b) else 0
    left_number, left_end = _number(left, index, start)
    right_number, right_end = _number(right, index, start)
    if left_number != right_number:
        return left_number < right_number
    if left_end != right_end:
        return left_end < right_end
    return a < b


def _carried(text: str, index: int) -> int:
    """Return 1 when the digits before `index` make a zero there count, as in 10 against 1."""
    while index > 0 and text[index - 1].isdecimal():
        index -= 1
        if text[index] != "0":
            return 1
    return 0


def _number(text: str, index: int, value: int) -> tuple[int, int]:
    """Read digits as a number that wraps around like Go's int64."""
    while index < len(text) and text[index].isdecimal():
        value = value * 10 + ord(text[index]) - ord("0")
        index += 1
    return (value + (1 << 63)) % (1 << 64) - (1 << 63), index
