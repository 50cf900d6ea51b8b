"""The value of an expression as plain data that goes into an object."""

from __future__ import annotations

from math import isfinite
from typing import Any

from crossply.functions.builtin.kro.cel.data import DataMap
from crossply.functions.builtin.kro.cel.times import kubernetes_time, period_text
from crossply.functions.builtin.kro.cel.values import (
    OMIT,
    Duration,
    EvaluationError,
    Omit,
    Optional,
    Timestamp,
    entries_of,
    is_list,
    is_map,
    items_of,
    type_name,
)
from crossply.values.deepcopy import deepcopy
from crossply.values.go_type_names import go_type

_PLAIN = (bool, int, float, str, bytes, type(None))


def to_native(value: Any) -> Any:
    """Plain data; `OMIT` stays where a field is to be left out. Raises EvaluationError."""
    if isinstance(value, float) and not isfinite(value):
        raise EvaluationError("a number that is not finite has no place in an object")
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, DataMap):
        return deepcopy(value.raw)
    if is_list(value):
        return [to_native(item) for item in items_of(value)]
    if is_map(value):
        return {_key(key): to_native(item) for key, item in entries_of(value)}
    if isinstance(value, Optional):
        return to_native(value.value) if value.has_value else None
    if isinstance(value, Timestamp):
        return kubernetes_time(value)
    if isinstance(value, Duration):
        return period_text(value)
    if isinstance(value, Omit):
        return OMIT
    raise EvaluationError(f"unsupported type: {type_name(value)}")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise EvaluationError(f"map key must be string, got {go_type(key)}")
    return key
