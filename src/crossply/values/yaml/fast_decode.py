"""Decode parser events to a value in one pass: the fast path of nearly every document.

A document with anchors, tags, odd keys or values that JSON cannot hold is `Unusual`: it is read again by
`decode`, which follows Go step by step and knows every error. So this loop stays short and fast.
"""

from __future__ import annotations

from typing import Any

from yaml._yaml import CParser
from yaml.error import YAMLError
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from crossply.values.cancellation import checkpoint
from crossply.values.yaml.errors import too_many_nodes
from crossply.values.yaml.floats import through_json
from crossply.values.yaml.limits import MAX_DEPTH
from crossply.values.yaml.scalars import HINTS, resolve

_BETWEEN_CHECKPOINTS = 256


class Unusual(Exception):
    """The document needs `decode`."""


def build(data: bytes, max_nodes: int) -> tuple[Any, int]:
    """Read the first document; return its value and how many nodes it has."""
    next_event = CParser(data).get_event
    try:
        next_event()
        if type(next_event()) is StreamEndEvent:
            return None, 1
        return _build_document(next_event, max_nodes)
    except YAMLError as error:
        if b"?" in data or "unexpected ':'" in str(error):
            raise Unusual from None
        raise


def _build_document(next_event: Any, max_nodes: int) -> tuple[Any, int]:
    # `into` is the open list or dict, `key` the key that waits for its value (None: the next is a key).
    stack: list[tuple[Any, str | None, bool]] = []
    root: list[Any] = []
    into: Any = root
    is_map = in_flow = False
    key: str | None = None
    nodes = 0
    while True:
        event = next_event()
        kind = type(event)
        if kind is ScalarEvent:
            value: Any = event.value
            if event.tag is not None or event.anchor is not None:
                raise Unusual
            if event.implicit[0]:
                if value[:1] in HINTS:
                    value = _plain(value)
                if value == "<<" or (in_flow and "?" in event.value):
                    raise Unusual
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            value = {} if kind is MappingStartEvent else []
            if event.anchor is not None or len(stack) >= MAX_DEPTH:
                raise Unusual
        elif stack:
            if kind is AliasEvent:
                raise Unusual
            into, key, in_flow = stack.pop()
            is_map = type(into) is dict
            continue
        elif kind is DocumentEndEvent:
            return root[0], nodes
        else:
            raise Unusual
        nodes += 1
        if not nodes % _BETWEEN_CHECKPOINTS:
            checkpoint()
        if nodes > max_nodes:
            raise too_many_nodes(event.start_mark.line)
        if not is_map:
            into.append(value)
        elif key is None:
            key = value if type(value) is str else _key(value, event)
            continue
        else:
            into[key] = value
            key = None
        if kind is not ScalarEvent:
            stack.append((into, key, in_flow))
            into = value
            in_flow = event.flow_style
            is_map = kind is MappingStartEvent
            key = None


def _plain(text: str) -> Any:
    value = resolve(text)
    if type(value) is float:
        if value - value != 0:
            raise Unusual
        return through_json(value)
    if type(value) is int and value >= 1 << 63:
        return float(value)
    return value


def _key(value: Any, event: Any) -> str:
    """Write a bool or a decimal number as a key; `decode` handles the other kinds."""
    if value is True or value is False:
        return "true" if value else "false"
    text: str = getattr(event, "value", "")
    if type(value) is int and text.isdecimal() and text == str(value):
        return text
    raise Unusual
