"""Map and match transforms: another value for a string that is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.errors import CrossplyError
from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.failure import REASONS, Failure, failing, wrap
from crossply.functions.builtin.patch_and_transform.limits import check_work, is_short
from crossply.functions.builtin.patch_and_transform.texts import valid_text
from crossply.values import Object
from crossply.values.gotypes import go_type
from crossply.values.regexp import compile_go

Change = Callable[[Any], Any]
Test = Callable[[Any], bool]

_MANY_PATTERNS = 64


def map_transform(pairs: Object, _dialect: Dialect) -> Change:
    """Make the closure of a map transform."""

    def look_up(value: Any) -> Any:
        if type(value) is not str:
            raise Failure(f"type {go_type(value)} is not supported for map transform")
        if value not in pairs:
            raise Failure(f"key {value} is not found in map")
        if pairs[value] is None:
            raise Failure(f"value for key {value} is not valid JSON: unexpected end of JSON input")
        return pairs[value]

    return look_up


def match_transform(settings: Object, _dialect: Dialect) -> Change:
    """Make the closure of a match transform: the result of the first pattern that fits."""
    patterns = [(_test(pattern), pattern.get("result")) for pattern in settings.get("patterns", [])]
    otherwise = _fallback(settings)

    def match(value: Any) -> Any:
        takes_time = len(patterns) > _MANY_PATTERNS or not is_short(value)
        if takes_time:
            check_work(value, len(patterns))
        for index, (fits, result) in enumerate(patterns):
            if takes_time:
                check_work(value, 1)
            try:
                if fits(value):
                    return result
            except REASONS as reason:
                raise wrap(f"cannot match pattern at index {index}", reason) from None
        return otherwise(value)

    return match


def _fallback(settings: Object) -> Change:
    value = settings.get("fallbackValue")
    if settings.get("fallbackTo") != "Input":
        return lambda _input: value
    if value is not None:
        return failing("cannot set both a fallback value and the fallback to input flag")
    return lambda given: given


def _test(pattern: Object) -> Test:
    kind = pattern.get("type", "")
    if kind == "literal":
        return _is_literally(pattern["literal"]) if "literal" in pattern else _lacks("literal")
    if kind == "regexp":
        return _matches(pattern["regexp"]) if "regexp" in pattern else _lacks("regexp")
    return failing(f"unsupported pattern type '{kind}'")


def _lacks(kind: str) -> Test:
    return failing(f"{kind} is required by type {kind}")


def _is_literally(literal: str) -> Test:
    def test(value: Any) -> bool:
        if type(value) is not str:
            raise _unsupported(go_type(value))
        return value == literal

    return test


def _matches(expression: str) -> Test:
    try:
        search = compile_go(expression).search
    except CrossplyError as reason:
        return failing(f"cannot compile regexp: {reason}")

    def test(value: Any) -> bool:
        if type(value) is not str:
            raise _unsupported("null" if value is None else go_type(value))
        return search(valid_text(value)) is not None

    return test


def _unsupported(kind: str) -> Failure:
    return Failure(f"unsupported input type '{kind}'")
