"""Named tuples as plain JSON values, and back by the types of their fields."""

from __future__ import annotations

from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def plain(value: Any) -> Any:
    """A value of which all named tuples are objects; fields that have their default are left out."""
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        if fields is None:
            return [plain(item) for item in value]
        defaults = value._field_defaults  # type: ignore[attr-defined]
        return {
            name: plain(field)
            for name, field in zip(fields, value, strict=True)
            if name not in defaults or defaults[name] != field
        }
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def typed(cls: type[T], value: Any) -> T:
    """The value of a type that `plain` made plain."""
    result: T = _typed(cls, value)
    return result


def _typed(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        if value is None:
            return None
        return _typed(next(part for part in get_args(hint) if part is not NoneType), value)
    if origin is tuple:
        return tuple(_typed(get_args(hint)[0], item) for item in value)
    if origin is dict:
        return {key: _typed(get_args(hint)[1], item) for key, item in value.items()}
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        hints = _hints(hint)
        return hint(**{name: _typed(hints[name], item) for name, item in value.items()})
    return value


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)
