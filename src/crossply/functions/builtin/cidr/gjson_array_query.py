"""Queries of gjson paths: `#(name=="a")` selects the first item of an array that matches, `#(...)#` all."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple

_OPERATORS = ("!=", "!%", "<=", ">=", "==", "<", ">", "=", "%")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CLOSING = ")]"


class PathSyntaxError(Exception):
    """A path is malformed or not supported. It never leaves the function: it becomes a fatal result."""


class Query(NamedTuple):
    """What an item must match."""

    path: str
    """What leads from the item to the value that is compared; empty for the item itself."""
    operator: str
    """Empty where the value must only exist."""
    operand: str
    selects_all: bool


def parse_query(path: str) -> tuple[Query, str]:
    """The query at the start of a path, and the rest with its separator."""
    end, start_of_operator = _scan(path)
    inner = path[2:end]
    rest = path[end + 1 :]
    selects_all = rest.startswith("#")
    rest = rest[1:] if selects_all else rest
    if start_of_operator is None:
        return Query(inner.strip(), "", "", selects_all), rest
    comparison = path[start_of_operator:end].strip()
    symbol = next(symbol for symbol in _OPERATORS if comparison.startswith(symbol) or symbol == "%")
    operand = comparison[len(symbol) :].strip()
    if operand.startswith("~"):
        raise PathSyntaxError(f"{path!r}: the operator ~ is not supported")
    query = Query(
        path[2:start_of_operator].strip(),
        "=" if symbol == "==" else symbol,
        _unquoted(operand),
        selects_all,
    )
    return query, rest


def _scan(path: str) -> tuple[int, int | None]:
    """Where a query ends, and where its operator starts."""
    depth, operator_at, position = 1, None, 2
    while position < len(path):
        char = path[position]
        if depth == 1 and operator_at is None and char in "!=<>%":
            operator_at = position
        elif char == "\\":
            position += 1
        elif char in "([":
            depth += 1
        elif char in _CLOSING:
            depth -= 1
            if not depth:
                return position, operator_at
        elif char == '"':
            position = _end_of_text(path, position)
        position += 1
    raise PathSyntaxError(f"{path!r}: query is not closed")


def _end_of_text(path: str, start: int) -> int:
    position = start + 1
    while position < len(path) and path[position] != '"':
        position += 2 if path[position] == "\\" else 1
    return position


def _unquoted(operand: str) -> str:
    if len(operand) < 2 or operand[0] != '"' or operand[-1] != '"':
        return operand
    return re.sub(r"\\(.)", r"\1", operand[1:-1])


def is_match(value: Any, query: Query, wildcards: Callable[[str], re.Pattern[str]]) -> bool:
    """Whether a value matches; null and a missing value never do."""
    if value is None:
        return False
    if not query.operator:
        return True
    if isinstance(value, str):
        return _is_text_match(value, query, wildcards)
    if isinstance(value, bool):
        return _is_truth_match(value, query)
    if isinstance(value, int | float):
        compare = _COMPARISONS.get(query.operator)
        return compare is not None and compare(value, _number(query.operand))
    return False


def _is_text_match(value: str, query: Query, wildcards: Callable[[str], re.Pattern[str]]) -> bool:
    if query.operator.endswith("%"):
        is_like = wildcards(query.operand).fullmatch(value) is not None
        return is_like if query.operator == "%" else not is_like
    return _COMPARISONS[query.operator](value, query.operand)


def _is_truth_match(value: bool, query: Query) -> bool:
    """Compare a boolean as gjson does: only with the operand's text, and false is less than true."""
    text = "true" if value else "false"
    if query.operator in ("=", "!="):
        return (query.operand == text) is (query.operator == "=")
    if query.operator in (">=", "<="):
        return value is (query.operator == ">=")
    if query.operator in (">", "<"):
        return value is (query.operator == ">") and query.operand == ("false" if value else "true")
    return False


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
