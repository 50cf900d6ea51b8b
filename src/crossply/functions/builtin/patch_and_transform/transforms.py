"""A list of transforms compiled into one closure. Its errors name the transform that failed.

The types of transforms are in `map_match_transforms`, `math_convert_transforms` and `string_transforms`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.functions.builtin.patch_and_transform.dialect import Dialect, Transform
from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Failure, fail_with
from crossply.functions.builtin.patch_and_transform.map_match_transforms import map_transform, match_transform
from crossply.functions.builtin.patch_and_transform.math_convert_transforms import (
    convert_transform,
    math_transform,
)
from crossply.functions.builtin.patch_and_transform.string_transforms import string_transform
from crossply.functions.builtin.patch_and_transform.text_formatting import (
    SHORT_TEXT,
    check_length,
    check_work,
)
from crossply.values import Object

_MAX_UNCHECKED_STEPS = 64
"""More transforms than this are checked against the deadline even if the values are short."""


class Step(NamedTuple):
    """One transform, and the prefix of its error message."""

    transform: Transform
    prefix: str


_COMPILERS: dict[str, Callable[[Object, Dialect], Transform]] = {
    "math": math_transform,
    "map": map_transform,
    "match": match_transform,
    "string": string_transform,
    "convert": convert_transform,
}


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
