"""Functions that return or test the type or kind of a value."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import go_kind, go_type


def type_of(value: Any) -> str:
    """Go's name of a value's type."""
    return go_type(value)


def type_is(name: str, value: Any) -> bool:
    """Whether a value is of a type."""
    return go_type(value) == name


def type_is_like(name: str, value: Any) -> bool:
    """Whether a value is of a type, or points to it."""
    return go_type(value) in (name, "*" + name)


def kind_of(value: Any) -> str:
    """Go's name of a value's kind."""
    return go_kind(value)


def kind_is(name: str, value: Any) -> bool:
    """Whether a value is of a kind."""
    return go_kind(value) == name
