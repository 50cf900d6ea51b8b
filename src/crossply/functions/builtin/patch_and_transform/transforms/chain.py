"""A list of transforms as one closure, with the words that say which of them failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.failure import REASONS, Failure, failing
from crossply.functions.builtin.patch_and_transform.limits import (
    SHORT_TEXT,
    check_length,
    check_work,
    is_short,
)
from crossply.functions.builtin.patch_and_transform.transforms.arithmetic import math_transform
from crossply.functions.builtin.patch_and_transform.transforms.convert import convert_transform
from crossply.functions.builtin.patch_and_transform.transforms.lookup import map_transform, match_transform
from crossply.functions.builtin.patch_and_transform.transforms.strings import string_transform
from crossply.values import Object

Change = Callable[[Any], Any]

_MANY_STEPS = 64
"""From so many transforms on also those of short texts take time."""


class Step(NamedTuple):
    """One transform, and what to say in front of the reason when it fails."""

    change: Change
    said: str


_MAKERS: dict[str, Callable[[Object, Dialect], Change]] = {
    "math": math_transform,
    "map": map_transform,
    "match": match_transform,
    "string": string_transform,
    "convert": convert_transform,
}


def chain(transforms: list[Object], dialect: Dialect) -> Change | None:
    """Make one closure of all transforms, None when there is nothing to change."""
    if not transforms:
        return None
    steps = [
        Step(step.change, f"transform at index {index} returned error: {step.said}")
        for index, step in enumerate(_step(transform, dialect) for transform in transforms)
    ]
    return _first_to_last(steps)


def _first_to_last(steps: list[Step]) -> Change:
    is_long = len(steps) > _MANY_STEPS

    def change(value: Any) -> Any:
        said = ""
        if is_long or not is_short(value):
            check_work(value, len(steps))
        try:
            for step, said in steps:  # noqa: B007 - said is needed when the step fails
                value = step(value)
                if type(value) is str and len(value) > SHORT_TEXT:
                    check_length(len(value))
                    check_work(value, len(steps))
                elif is_long:
                    check_work(value, 1)
        except REASONS as reason:
            raise Failure(f"{said}{reason}") from None
        return value

    return change


def _step(transform: Object, dialect: Dialect) -> Step:
    kind = transform.get("type", "")
    maker = _MAKERS.get(kind)
    if maker is None:
        return Step(failing(f"transform type {kind} is not supported"), "")
    settings = transform.get(kind)
    if settings is None:
        return Step(failing(f"given transform type {kind} requires configuration"), "")
    return Step(maker(settings, dialect), f"{kind} transform could not resolve: ")
