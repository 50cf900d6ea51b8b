"""The engine's wire format as bytes: a RenderRequest read, a RenderResponse written.

By hand, because objects nest: protobuf for Python reads a hundred levels of messages, which are thirty of
an object, and OpenAPI documents have more. The generated messages serve as the second opinion in tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from crossply.compose.events import Event
from crossply.compose.function_messages import ResourceSelector, SchemaSelector
from crossply.compose.in_memory_reconcile import Rendered
from crossply.compose.operation_rendering import RenderedOperation
from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.protobuf_struct import (
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


class OperationInput(NamedTuple):
    """An Operation to render, with all that the engine may need for it."""

    operation: Object
    functions: dict[str, str]
    """The address of each function by its name."""
    required_resources: list[Object]
    credentials: list[Object]
    required_schemas: list[Object]


class CronInput(NamedTuple):
    """A CronOperation, and the time to create an Operation for."""

    cron_operation: Object
    seconds: int | None
    """Of the scheduled time; nothing for now."""


class WatchInput(NamedTuple):
    """A WatchOperation, and the resource to create an Operation for."""

    watch_operation: Object
    watched: Object


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


Input = CompositeInput | OperationInput | CronInput | WatchInput


def read_request(data: bytes) -> Input:
    try:
        chunks = _chunks(data)
        numbers = [number for number in _INPUTS if number in chunks]
        if len(numbers) == 1:
            return _READERS[numbers[0]](_chunks(b"".join(chunks[numbers[0]])))
    except (StructError, IndexError, UnicodeDecodeError) as problem:
        raise EngineRequestError(f"cannot unmarshal render request: {problem}") from None
    raise EngineRequestError(f"render request must set exactly one of: {', '.join(_INPUTS.values())}")


def _composite_input(chunks: _Chunks) -> CompositeInput:
    return CompositeInput(
        composite=_object(b"".join(chunks.get(1, ()))),
        composition=_object(b"".join(chunks.get(2, ()))),
        functions=_functions(chunks, 3),
        observed=_objects(chunks, 4),
        required_resources=_objects(chunks, 5),
        credentials=_objects(chunks, 6),
        required_schemas=_objects(chunks, 7),
        definition=_object(b"".join(chunks[8])) if 8 in chunks else None,
    )


def _operation_input(chunks: _Chunks) -> OperationInput:
    return OperationInput(
        operation=_object(b"".join(chunks.get(1, ()))),
        functions=_functions(chunks, 2),
        required_resources=_objects(chunks, 3),
        credentials=_objects(chunks, 4),
        required_schemas=_objects(chunks, 5),
    )


def _cron_input(chunks: _Chunks) -> CronInput:
    seconds = None
    if 2 in chunks:
        time = b"".join(chunks[2])
        # A time of the epoch's first second has no bytes; fractions of a second have no meaning here.
        seconds = read_varint(time, 1)[0] if time[:1] == b"\x08" else 0
    return CronInput(_object(b"".join(chunks.get(1, ()))), seconds)


def _watch_input(chunks: _Chunks) -> WatchInput:
    return WatchInput(_object(b"".join(chunks.get(1, ()))), _object(b"".join(chunks.get(2, ()))))


_READERS: dict[int, Callable[[_Chunks], Input]] = {
    2: _composite_input,
    3: _operation_input,
    4: _cron_input,
    5: _watch_input,
}


def _functions(chunks: _Chunks, number: int) -> dict[str, str]:
    """Addresses of functions by name; the first of duplicate names wins."""
    functions = [_chunks(function) for function in chunks.get(number, ())]
    return {_text(function, 1): _text(function, 2) for function in reversed(functions)}


def _objects(chunks: _Chunks, number: int) -> list[Object]:
    return [_object(chunk) for chunk in chunks.get(number, ())]


def _chunks(data: bytes) -> _Chunks:
    """The length-delimited fields of a message by number; no other field has a meaning here."""
    chunks: _Chunks = {}
    at, end = 0, len(data)
    while at < end:
        tag, at = read_varint(data, at)
        if tag & 7 == _LENGTH_DELIMITED:
            start, at = read_chunk(data, at, end)
            chunks.setdefault(tag >> 3, []).append(data[start:at])
        else:
            at = skip_field(data, at, end, tag & 7)
    return chunks


def _object(data: bytes) -> Object:
    obj: Object = from_wire(decode_struct(data))
    return obj


def _text(fields: _Chunks, number: int) -> str:
    return fields[number][-1].decode() if number in fields else ""


def response_bytes(rendered: Rendered) -> bytes:
    output = b"".join(
        (
            _field(1, encode_struct(rendered.composite)),
            *(_field(2, encode_struct(obj)) for obj in rendered.composed),
            *(_field(3, encode_struct(obj)) for obj in rendered.deleted),
            *(_field(4, _event(event)) for event in rendered.events),
            *(_field(5, encode_struct(selector)) for selector in map(_selector, rendered.required_resources)),
            *(
                _field(6, encode_struct(selector))
                for selector in map(_schema_selector, rendered.required_schemas)
            ),
        )
    )
    return _field(1, b"") + _field(2, output)


def operation_bytes(rendered: RenderedOperation) -> bytes:
    output = b"".join(
        (
            b"" if rendered.operation is None else _field(1, encode_struct(rendered.operation)),
            *(_field(2, encode_struct(obj)) for obj in rendered.applied),
            *(_field(3, _event(event)) for event in rendered.events),
            *(_field(4, encode_struct(selector)) for selector in map(_selector, rendered.required_resources)),
            *(
                _field(5, encode_struct(selector))
                for selector in map(_schema_selector, rendered.required_schemas)
            ),
        )
    )
    return _field(1, b"") + _field(3, output)


def created_operation_bytes(operation: Object, *, by_watch: bool) -> bytes:
    """The RenderResponse with the Operation that a CronOperation or WatchOperation creates."""
    return _field(1, b"") + _field(5 if by_watch else 4, _field(1, encode_struct(operation)))


def _field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | _LENGTH_DELIMITED) + varint(len(payload)) + payload


def _event(event: Event) -> bytes:
    texts: Iterable[str] = (event.type, event.reason, event.message)
    return b"".join(_field(number, text.encode()) for number, text in enumerate(texts, 1) if text)


def _selector(selector: ResourceSelector) -> Object:
    """A selector in the JSON form of its message."""
    fields: Object = {"apiVersion": selector.api_version, "kind": selector.kind}
    if selector.match_name is not None:
        fields["matchName"] = selector.match_name
    elif selector.match_labels is not None:
        fields["matchLabels"] = {"labels": selector.match_labels}
    if selector.namespace is not None:
        fields["namespace"] = selector.namespace
    return fields


def _schema_selector(selector: SchemaSelector) -> Object:
    return {"apiVersion": selector.api_version, "kind": selector.kind}
