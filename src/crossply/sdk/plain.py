"""What people put into resources, as the plain values that objects hold.

Mappings, tuples, enums, dates, UUIDs, dataclasses and pydantic models become what they mean; anything else is
refused by the name of its field. Only what cannot be frozen as it is comes here, so it need not be fast.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from crossply.sdk.failures import ValueRefused
from crossply.values import Object
from crossply.values.protobuf_struct import MAX_DEPTH

_NAMED = ("apiVersion", "kind")


def fields_of(given: Any) -> Object:
    """The fields of a mapping or a model, not copied where it is a dict already."""
    if type(given) is dict:
        return given
    if isinstance(given, Mapping):
        return dict(given)
    fields = _model(given)
    if fields is None:
        raise ValueRefused(f"a {type(given).__name__} is not a resource", hint="give a dict or a model")
    return fields


def plain(value: Any, place: str = "", depth: int = 0) -> Any:
    """The value made of plain dicts, lists and scalars."""
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


def _model(given: Any) -> Object | None:
    """The fields of a model: of pydantic, of `crossply new models`, or of a dataclass those that were set."""
    if hasattr(given, "model_dump"):
        fields: Object = given.model_dump(exclude_unset=True, by_alias=True, warnings=False)
        # They say what it is, and are seldom given, so that they count as not set.
        return {**fields, **{name: getattr(given, name) for name in _NAMED if hasattr(given, name)}}
    if hasattr(given, "to_dict"):
        return dict(given.to_dict())
    described = getattr(type(given), "__dataclass_fields__", None)
    if described is None:
        return None
    values = ((each.metadata.get("name", name), getattr(given, name)) for name, each in described.items())
    return {name: value for name, value in values if value is not None}


def _named(place: str) -> str:
    return place or "the value"
