"""Nodes as text: YAML, JSON, and protobuf's own notation."""

from __future__ import annotations

import json
from typing import Any

from crossply.functions.builtin.pythonic.message import Message
from crossply.functions.builtin.pythonic.message_collections import MapMessage, RepeatedMessage
from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.node import ABSENT, UNKNOWN_TEXT, Node
from crossply.functions.builtin.pythonic.value import Value

FORMATS = ("yaml", "json", "jsonc", "protobuf")


def format_value(value: Value, spec: str) -> str:
    """A value in a format; without one, a scalar is its own text and all else is YAML."""
    if spec in FORMATS or value._isMap or value._isList:
        return format_node(value, spec)
    text = _scalar_text(value._content)
    return format(shown(value), spec) if spec else text


def _scalar_text(content: Any) -> str:
    if content is ABSENT:
        return UNKNOWN_TEXT
    if content is None:
        return "null"
    if isinstance(content, bool):
        return "true" if content else "false"
    return str(_whole(content))


def format_node(node: Node, spec: str) -> str:
    if spec == "json":
        return json.dumps(shown(node), indent=2, default=_text_of_bytes)
    if spec == "jsonc":
        return json.dumps(shown(node), separators=(",", ":"), default=_text_of_bytes)
    if spec == "protobuf":
        from crossply.functions.builtin.pythonic.protobuf_text import protobuf_text

        return protobuf_text(node)
    return _yaml(shown(node))


def _text_of_bytes(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def shown(node: Any) -> Any:
    """A node as readable plain data: whole numbers are integers, unknown values are marked."""
    if isinstance(node, Value):
        if node._isMap:
            return {key: shown(item) for key, item in node}
        if node._isList:
            return [shown(item) for item in node]
        return UNKNOWN_TEXT if node._content is ABSENT else _whole(node._content)
    if isinstance(node, Message | MapMessage):
        return {key: shown(item) for key, item in node}
    if isinstance(node, RepeatedMessage):
        return [shown(item) for item in node]
    if isinstance(node, FieldMessage):
        return UNKNOWN_TEXT if node._value is ABSENT else node._value
    return node


def _whole(content: Any) -> Any:
    return int(content) if isinstance(content, float) and content.is_integer() else content


def _yaml(data: Any) -> str:
    import yaml

    text: str = yaml.dump(data, Dumper=_dumper())
    return text


def _dumper() -> Any:
    """A dumper that writes texts of several lines as blocks."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def represent(dumper: Any, text: str) -> Any:
        style = "|" if "\n" in text else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)

    Dumper.add_representer(str, represent)
    return Dumper
