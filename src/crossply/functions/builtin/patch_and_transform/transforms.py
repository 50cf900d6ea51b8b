"""A list of transforms compiled into one closure. Its errors name the transform that failed.

Map and match transforms replace a value by the one that a table or a list of patterns gives for it. The other
types are in `math_convert_transforms` and `string_transforms`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.errors import CrossplyError
from crossply.functions.builtin.patch_and_transform.dialect import Dialect, Transform
from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Failure, fail_with, wrap
from crossply.functions.builtin.patch_and_transform.math_convert_transforms import (
    convert_transform,
    math_transform,
)
from crossply.functions.builtin.patch_and_transform.string_transforms import string_transform
from crossply.functions.builtin.patch_and_transform.text_formatting import (
    SHORT_TEXT,
    check_length,
    check_work,
    is_short,
    valid_text,
)
from crossply.values import Object
from crossply.values.go_type_names import go_type
from crossply.values.regexp import compile_go

_MAX_UNCHECKED_STEPS = 64
"""More transforms than this are checked against the deadline even if the values are short."""
_Test = Callable[[Any], bool]

_MANY_PATTERNS = 64


class Step(NamedTuple):
    """One transform, and the prefix of its error message."""

    transform: Transform
    prefix: str


def chain_transforms(transforms: list[Object], dialect: Dialect) -> Transform | None:
    """Compile transforms into one closure; None for an empty list."""
    if not transforms:
        return None
    steps = [
        Step(step.transform, f"transform at index {index} returned error: {step.prefix}")
        for index, step in enumerate(_step(transform, dialect) for transform in transforms)
    ]
    return _chained(steps)


def _chained(steps: list[Step]) -> Transform:
    is_long = len(steps) > _MAX_UNCHECKED_STEPS

    def transform(value: Any) -> Any:
        prefix = ""
        if is_long or type(value) is not str or len(value) > SHORT_TEXT:
            check_work(value, len(steps))
        try:
            for step, prefix in steps:  # noqa: B007 - the error message needs the prefix
                value = step(value)
                if type(value) is str and len(value) > SHORT_TEXT:
                    check_length(len(value))
                    check_work(value, len(steps))
                elif is_long:
                    check_work(value, 1)
        except FAILURES as error:
            raise Failure(f"{prefix}{error}") from None
        return value

    return transform


def _step(transform: Object, dialect: Dialect) -> Step:
    kind = transform.get("type", "")
    compile_transform = _COMPILERS.get(kind)
    if compile_transform is None:
        return Step(fail_with(f"transform type {kind} is not supported"), "")
    settings = transform.get(kind)
    if settings is None:
        return Step(fail_with(f"given transform type {kind} requires configuration"), "")
    return Step(compile_transform(settings, dialect), f"{kind} transform could not resolve: ")


def _map_transform(pairs: Object, _dialect: Dialect) -> Transform:
    def map_value(value: Any) -> Any:
        if type(value) is not str:
            raise Failure(f"type {go_type(value)} is not supported for map transform")
        if value not in pairs:
            raise Failure(f"key {value} is not found in map")
        if pairs[value] is None:
            raise Failure(f"value for key {value} is not valid JSON: unexpected end of JSON input")
        return pairs[value]

    return map_value


def _match_transform(settings: Object, _dialect: Dialect) -> Transform:
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


def _test(pattern: Object) -> _Test:
    kind = pattern.get("type", "")
    if kind == "literal":
        return _literal_test(pattern["literal"]) if "literal" in pattern else _missing_setting("literal")
    if kind == "regexp":
        return _regexp_test(pattern["regexp"]) if "regexp" in pattern else _missing_setting("regexp")
    return fail_with(f"unsupported pattern type '{kind}'")


def _missing_setting(kind: str) -> _Test:
    return fail_with(f"{kind} is required by type {kind}")


def _literal_test(literal: str) -> _Test:
    def test(value: Any) -> bool:
        if type(value) is not str:
            raise _unsupported(go_type(value))
        return value == literal

    return test


def _regexp_test(expression: str) -> _Test:
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


_COMPILERS: dict[str, Callable[[Object, Dialect], Transform]] = {
    "math": math_transform,
    "map": _map_transform,
    "match": _match_transform,
    "string": string_transform,
    "convert": convert_transform,
}
