"""Conversion of what authors put into resources to plain values.

Mappings, tuples, enums, dates, UUIDs, dataclasses and pydantic models are converted; other values are
refused with the name of the field. Only objects that cannot be encoded directly are converted, so this need
not be fast.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from crossply.sdk.failures import ValueRefused
from crossply.values import Object
from crossply.values.protobuf_struct import MAX_DEPTH

_NAMED = ("apiVersion", "kind")


def fields_of(value: Any) -> Object:
    """The fields of a mapping or a model; a dict is not copied."""
    if type(value) is dict:
        return value
    if isinstance(value, Mapping):
        return dict(value)
    fields = _model(value)
    if fields is None:
        raise ValueRefused(f"a {type(value).__name__} is not a resource", hint="give a dict or a model")
    return fields


def plain(value: Any, place: str = "", depth: int = 0) -> Any:
    """Convert a value to plain dicts, lists and scalars."""
    if value is None or isinstance(value, bool):
        return value
    if depth > MAX_DEPTH:
        raise ValueRefused(f"{place[:60]}… nests deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return _mapping(value, place, depth)
    if isinstance(value, list | tuple):
        return [plain(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(value)]
    scalar = _scalar(value, place)
    if scalar is not None:
        return scalar
    fields = _model(value)
    if fields is not None:
        return _mapping(fields, place, depth)
    raise ValueRefused(f"{_named(place)} is a {type(value).__name__}, which an object cannot hold")


def _mapping(value: Mapping[Any, Any], place: str, depth: int) -> Object:
    for key in value:
        if not isinstance(key, str):
            raise ValueRefused(f"{_named(place)} has a key that is not a string: {key!r}")
    return {
        str(key): plain(item, f"{place}.{key}" if place else str(key), depth + 1)
        for key, item in value.items()
    }


def _scalar(value: Any, place: str) -> Any:
    if isinstance(value, str):
        return _text(str.__str__(value), place)
    if isinstance(value, int):
        if abs(value) >= 1 << 1023:
            raise ValueRefused(f"{_named(place)} is a number that is too large")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueRefused(f"{_named(place)} is {value}, which is not a finite number")
        return float(value)
    member = getattr(value, "value", None) if hasattr(type(value), "__members__") else None
    if member is not None:
        return _scalar(member, place)
    written = getattr(value, "isoformat", None)
    if callable(written):
        return written().replace("+00:00", "Z")
    return str(value) if type(value).__module__ == "uuid" else None


def _text(text: str, place: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueRefused(f"{_named(place)} holds a lone surrogate, which is not UTF-8") from None
    return text


def _model(model: Any) -> Object | None:
    """The fields that are set in a model of pydantic, of `crossply new models`, or in a dataclass."""
    if hasattr(model, "model_dump"):
        fields: Object = model.model_dump(exclude_unset=True, by_alias=True, warnings=False)
        # apiVersion and kind have defaults and rarely count as set.
        return {**fields, **{name: getattr(model, name) for name in _NAMED if hasattr(model, name)}}
    if hasattr(model, "to_dict"):
        return dict(model.to_dict())
    described = getattr(type(model), "__dataclass_fields__", None)
    if described is None:
        return None
    values = ((field.metadata.get("name", name), getattr(model, name)) for name, field in described.items())
    return {name: value for name, value in values if value is not None}


def _named(place: str) -> str:
    return place or "the value"
