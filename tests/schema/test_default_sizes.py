"""What defaults would add to an object is counted before any is filled in."""

from __future__ import annotations

import tracemalloc
from typing import Any

import orjson
import pytest

from crossply.schema.default_sizes import MOST_ADDED, DefaultsTooLarge, check_added_size
from crossply.schema.defaults import apply_defaults
from crossply.schema.fast_validation import Unusual, quick_check
from crossply.values import Object

TEXT = "x" * 100_000
LARGE: Object = {"type": "object", "properties": {"text": {"type": "string", "default": TEXT}}}


MEMBERS: Object = {str(number): {} for number in range(99)}
NULLS = [None] * 99


def holding(schema: Object) -> Object:
    return {"type": "object", "properties": {"held": schema}}


def nested(levels: int) -> Object:
    """Items that have a thousand items each by default."""
    if not levels:
        return {"type": "object", "properties": {"text": {"type": "string", "default": "x"}}}
    many = {"type": "array", "default": [{}] * 1000, "items": nested(levels - 1)}
    return {"type": "object", "properties": {"held": many}}


TOO_MUCH: list[tuple[str, Object, Object]] = [
    ("items", holding({"type": "array", "items": LARGE}), {"held": [{}] * 1000}),
    ("members", holding({"type": "object", "additionalProperties": LARGE}), {"held": MEMBERS}),
    ("nulls", holding({"type": "array", "items": {"type": "string", "default": TEXT}}), {"held": NULLS}),
    ("defaults in defaults", nested(3), {}),
]


@pytest.mark.parametrize(("schema", "value"), [row[1:] for row in TOO_MUCH], ids=[row[0] for row in TOO_MUCH])
def test_defaults_that_add_too_much_are_not_filled_in(schema: Object, value: Object) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(DefaultsTooLarge):
            check_added_size(value, schema)
        assert tracemalloc.get_traced_memory()[1] < MOST_ADDED
    finally:
        tracemalloc.stop()


def test_a_schema_with_a_default_that_is_too_large_is_compiled_without_it() -> None:
    with pytest.raises(Unusual):
        quick_check(nested(3))({"kind": "X"})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (holding({"type": "array", "items": LARGE}), {"held": [{}] * 30}),
        (holding({"type": "array", "items": LARGE}), {"held": [{"text": ""}] * 1000}),
        (holding({"type": "array", "items": LARGE}), {}),
        (holding({"type": "array", "items": {**LARGE, "nullable": True}}), {"held": [None] * 1000}),
        (nested(1), {}),
    ],
)
def test_no_more_is_counted_than_is_filled_in(schema: Object, value: Any) -> None:
    check_added_size(value, schema)
    added = len(orjson.dumps(apply_defaults(value, schema))) - len(orjson.dumps(value))
    assert added <= MOST_ADDED
