"""The engine's wire format as bytes: a RenderRequest read, a RenderResponse written.

By hand, because objects nest: protobuf for Python reads a hundred levels of messages, which are thirty of
an object, and OpenAPI documents have more. The generated messages serve as the second opinion in tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.compose.events import Event
from crossply.compose.messages import ResourceSelector, SchemaSelector
from crossply.compose.rendering import Rendered
from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.structs import (
    StructError,
    decode_struct,
    encode_struct,
    from_wire,
    read_chunk,
    read_varint,
    skip_field,
    varint,
)

_LENGTH_DELIMITED = 2
_INPUTS = {2: "composite", 3: "operation", 4: "cron_operation", 5: "watch_operation"}
_Chunks = dict[int, list[bytes]]


class EngineRequestError(CrossplyError):
    """The request on stdin cannot be understood or served."""

    code = "CP-530"
    hint = "internal render is called by other programs; to render files use: crossply render"


class CompositeInput(NamedTuple):
    """A composite resource to render, with all that the engine may need for it."""

    composite: Object
    composition: Object
    functions: dict[str, str]
    """The address of each function by its name."""
    observed: list[Object]
    required_resources: list[Object]
    credentials: list[Object]
    required_schemas: list[Object]
    definition: Object | None


def read_request(data: bytes) -> CompositeInput:
    """The composite resource that a RenderRequest asks to render."""
    try:
        given = _chunks(data)
        kinds = [name for number, name in _INPUTS.items() if number in given]
        if kinds == ["composite"]:
            return _composite_input(_chunks(b"".join(given[2])))
    except (StructError, IndexError, UnicodeDecodeError) as problem:
        raise EngineRequestError(f"cannot unmarshal render request: {problem}") from None
    if len(kinds) == 1:
        raise EngineRequestError(
            f"rendering of {kinds[0]} is not supported", hint="only composite resources are"
        )
    raise EngineRequestError(f"render request must set exactly one of: {', '.join(_INPUTS.values())}")


def _composite_input(given: _Chunks) -> CompositeInput:
    functions = [_chunks(function) for function in given.get(3, ())]
    return CompositeInput(
        composite=_object(b"".join(given.get(1, ()))),
        composition=_object(b"".join(given.get(2, ()))),
        # Of two functions of one name the first counts.
        functions={_text(f, 1): _text(f, 2) for f in reversed(functions)},
        observed=[_object(chunk) for chunk in given.get(4, ())],
        required_resources=[_object(chunk) for chunk in given.get(5, ())],
        credentials=[_object(chunk) for chunk in given.get(6, ())],
        required_schemas=[_object(chunk) for chunk in given.get(7, ())],
        definition=_object(b"".join(given[8])) if 8 in given else None,
    )


def _chunks(data: bytes) -> _Chunks:
    """The length-delimited fields of a message by number; no other field has a meaning here."""
    found: _Chunks = {}
    at, end = 0, len(data)
    while at < end:
        tag, at = read_varint(data, at)
        if tag & 7 == _LENGTH_DELIMITED:
            start, at = read_chunk(data, at, end)
            found.setdefault(tag >> 3, []).append(data[start:at])
        else:
            at = skip_field(data, at, end, tag & 7)
    return found


def _object(data: bytes) -> Object:
    obj: Object = from_wire(decode_struct(data))
    return obj


def _text(fields: _Chunks, number: int) -> str:
    return fields[number][-1].decode() if number in fields else ""


def response_bytes(rendered: Rendered) -> bytes:
    """The RenderResponse that tells what was rendered."""
    output = b"".join(
        (
            _field(1, encode_struct(rendered.composite)),
            *(_field(2, encode_struct(obj)) for obj in rendered.composed),
            *(_field(3, encode_struct(obj)) for obj in rendered.deleted),
            *(_field(4, _event(event)) for event in rendered.events),
            *(_field(5, encode_struct(told)) for told in map(_selector, rendered.required_resources)),
            *(_field(6, encode_struct(told)) for told in map(_schema_selector, rendered.required_schemas)),
        )
    )
    return _field(1, b"") + _field(2, output)


def _field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | _LENGTH_DELIMITED) + varint(len(payload)) + payload


def _event(event: Event) -> bytes:
    texts: Iterable[str] = (event.type, event.reason, event.message)
    return b"".join(_field(number, text.encode()) for number, text in enumerate(texts, 1) if text)


def _selector(selector: ResourceSelector) -> Object:
    """A selector in the JSON form of its message."""
    told: Object = {"apiVersion": selector.api_version, "kind": selector.kind}
    if selector.match_name is not None:
        told["matchName"] = selector.match_name
    elif selector.match_labels is not None:
        told["matchLabels"] = {"labels": selector.match_labels}
    if selector.namespace is not None:
        told["namespace"] = selector.namespace
    return told


def _schema_selector(selector: SchemaSelector) -> Object:
    return {"apiVersion": selector.api_version, "kind": selector.kind}
