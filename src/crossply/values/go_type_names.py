"""The names Go gives to the types of JSON values, for messages that must read like Go's."""

from __future__ import annotations

from typing import Any

_NAMES = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    dict: "map[string]interface {}",
    list: "[]interface {}",
    type(None): "<nil>",
}


def go_type(value: Any) -> str:
    """Return what `%T` prints for a value; integers are int64, objects map[string]interface {}."""
    return _NAMES.get(type(value)) or type(value).__name__
