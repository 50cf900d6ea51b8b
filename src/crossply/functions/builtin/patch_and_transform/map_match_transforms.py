"""Map and match transforms: replace a value by the one that a table or a list of patterns gives for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.errors import CrossplyError
from crossply.functions.builtin.patch_and_transform.dialect import Dialect, Transform
from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Failure, fail_with, wrap
from crossply.functions.builtin.patch_and_transform.text_formatting import check_work, is_short, valid_text
from crossply.values import Object
from crossply.values.gotypes import go_type
from crossply.values.regexp import compile_go

Test = Callable[[Any], bool]

_MANY_PATTERNS = 64


def map_transform(pairs: Object, _dialect: Dialect) -> Transform:
    def map_value(value: Any) -> Any:
        if type(value) is not str:
            raise Failure(f"type {go_type(value)} is not supported for map transform")
        if value not in pairs:
            raise Failure(f"key {value} is not found in map")
        if pairs[value] is None:
            raise Failure(f"value for key {value} is not valid JSON: unexpected end of JSON input")
        return pairs[value]

    return map_value


def match_transform(settings: Object, _dialect: Dialect) -> Transform:
    """Compile a match transform: the first pattern that matches gives the result."""
    patterns = [(_test(pattern), pattern.get("result")) for pattern in settings.get("patterns", [])]
    fallback = _fallback(settings)

    def match(value: Any) -> Any:
        takes_time = len(patterns) > _MANY_PATTERNS or not is_short(value)
        if takes_time:
            check_work(value, len(patterns))
        for index, (matches, result) in enumerate(patterns):
            if takes_time:
                check_work(value, 1)
            try:
                if matches(value):
                    return result
            except FAILURES as error:
                raise wrap(f"cannot match pattern at index {index}", error) from None
        return fallback(value)

    return match


def _fallback(settings: Object) -> Transform:
    value = settings.get("fallbackValue")
    if settings.get("fallbackTo") != "Input":
        return lambda _input: value
    if value is not None:
        return fail_with("cannot set both a fallback value and the fallback to input flag")
    return lambda function_input: function_input


def _test(pattern: Object) -> Test:
    kind = pattern.get("type", "")
    if kind == "literal":
        return _literal_test(pattern["literal"]) if "literal" in pattern else _missing_setting("literal")
    if kind == "regexp":
        return _regexp_test(pattern["regexp"]) if "regexp" in pattern else _missing_setting("regexp")
    return fail_with(f"unsupported pattern type '{kind}'")


def _missing_setting(kind: str) -> Test:
    return fail_with(f"{kind} is required by type {kind}")


def _literal_test(literal: str) -> Test:
    def test(value: Any) -> bool:
        if type(value) is not str:
            raise _unsupported(go_type(value))
        return value == literal

    return test


def _regexp_test(expression: str) -> Test:
    try:
        search = compile_go(expression).search
    except CrossplyError as error:
        return fail_with(f"cannot compile regexp: {error}")

    def test(value: Any) -> bool:
        if type(value) is not str:
            raise _unsupported("null" if value is None else go_type(value))
        return search(valid_text(value)) is not None

    return test


def _unsupported(kind: str) -> Failure:
    return Failure(f"unsupported input type '{kind}'")
