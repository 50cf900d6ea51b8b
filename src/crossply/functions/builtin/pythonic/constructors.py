"""The functions that programs make values with."""

from __future__ import annotations

import base64
import json
from typing import Any

from crossply.functions.builtin.pythonic.assignment import set_content
from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.value import Value, plain


def Map(**entries: Any) -> Value:
    return value_of(entries)


def List(*items: Any) -> Value:
    return value_of(items)


def Unknown() -> Value:
    return Value()


def Yaml(string: Any, readOnly: str | None = None) -> Any:
    import yaml

    return string if _is_unknown(string) else value_of(yaml.safe_load(str(string)), readOnly)


def YamlAll(string: Any, readOnly: str | None = None) -> Any:
    import yaml

    return string if _is_unknown(string) else value_of(list(yaml.safe_load_all(str(string))), readOnly)


def Json(string: Any, readOnly: str | None = None) -> Any:
    return string if _is_unknown(string) else value_of(json.loads(str(string)), readOnly)


def B64Encode(string: Any) -> Any:
    return string if _is_unknown(string) else base64.b64encode(str(string).encode()).decode()


def B64Decode(string: Any) -> Any:
    return string if _is_unknown(string) else base64.b64decode(str(string).encode()).decode()


def value_of(data: Any, read_only: str | None = None) -> Value:
    """A value of its own, outside of the request and the response."""
    value = Value(content=None)
    set_content(value, data)
    return Value(content=plain(value), read_only=read_only) if read_only else value


def _is_unknown(string: Any) -> bool:
    return isinstance(string, Value | FieldMessage) and not string
