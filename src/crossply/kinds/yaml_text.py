"""Scalars where the API wants a string.

A user who writes `version: 5` or `enabled: true` for a string field means the text. Crossplane's YAML reader
knows the type of the field and takes it so; so do we.
"""

from __future__ import annotations

from typing import Any


def yaml_text(value: Any) -> str | None:
    """The text of a YAML scalar, or None for a value that is no text at all."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    return None


def _float_text(value: float) -> str:
    from crossply.values.gonumbers import format_float

    return format_float(value, "g", -1)
