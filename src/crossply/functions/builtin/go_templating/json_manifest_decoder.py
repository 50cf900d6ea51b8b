"""Rendered text that starts with JSON, decoded value by value like Kubernetes' decoder does.

JSON values need no separator. The decoder reads JSON until a value is invalid, or is no object with a kind.
After at most one value it reads the rest as YAML; the JSON error is reported if the first YAML document is
invalid, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import Any, NamedTuple

_SPACES = re.compile(r"[ \t\r\n]*")
_SPACES_OF_A_LINE = re.compile(r"[^\S\n]*\n?")
_UNEXPECTED_END = "unexpected end of JSON input"
MAX_VALUES = 20_000


class JsonStart(NamedTuple):
    """The values that were read as JSON, the text after them, and why it is not JSON."""

    values: list[Any]
    rest: str
    error: str

    @property
    def is_ambiguous(self) -> bool:
        """Whether the rest may still be YAML."""
        return len(self.values) < 2


def read_json_start(text: str, problem_of: Callable[[Any], str]) -> JsonStart:
    """Read a text until it ends or is not JSON; `problem_of` says what is wrong with a value, if anything."""
    import json

    decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
    values: list[Any] = []
    consumed = 0
    while len(values) <= MAX_VALUES:
        start = _end_of(_SPACES, text, consumed)
        if start == len(text):
            return JsonStart(values, "", "")
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            error = _syntax_problem(text, start, is_ambiguous=len(values) < 2)
            break
        error = problem_of(value)
        if error:
            break
        values.append(value)
        consumed = end
    else:
        error = f"more than {MAX_VALUES} documents"
    return JsonStart(values, text[_end_of(_SPACES_OF_A_LINE, text, consumed) :], error)


def _finite(written: str) -> float:
    """A number that Go has, too: neither NaN nor too large."""
    number = float(written)
    if not isfinite(number):
        raise ValueError(written)
    return number


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def _syntax_problem(text: str, start: int, *, is_ambiguous: bool) -> str:
    from crossply.values.gojson_errors import first_problem
    from crossply.values.goquote import utf8

    error, read = first_problem(text[start:])
    if error == _UNEXPECTED_END:
        return "unexpected EOF"
    offset = len(utf8(text[:start])) + read
    return f"json: offset {offset}: {error}" if is_ambiguous else error
