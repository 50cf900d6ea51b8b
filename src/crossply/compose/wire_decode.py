"""Reading function messages, from bytes that a stranger sent.

`read_fields` sorts the fields of one message by tag; fields that are not known here are dropped, as protobuf
asks. What occurs several times where one is expected is joined if it is a message (that is how protobuf
merges) and otherwise the last one counts. Nesting is bounded by the messages and, inside an object, by
`values.protobuf_struct`; damaged bytes raise StructError, IndexError or UnicodeDecodeError, which
`wire_codec` translates.
"""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import (
    NO_STATE,
    SECOND,
    SEVERITY_FATAL,
    Condition,
    Request,
    Requirements,
    Resource,
    ResourceRef,
    ResourceSelector,
    Response,
    Result,
    SchemaSelector,
    State,
)
from crossply.values import Object
from crossply.values.protobuf_struct import StructError, decode_struct, read_chunk, read_varint, skip_field

Fields = dict[int, list[Any]]
"""The values of a message's fields by tag: bytes for wire type 2, a number for wire type 0."""

_LARGEST_TAG = (1 << 32) - 1

_MOST_FIELDS = 100_000
"""How many fields one message may have: a few bytes on the wire are a hundred times as many in memory."""

MOST_REPORTED = 1_000
"""How many results and how many conditions of a reply are read; the rest is dropped."""

_MOST_INPUTS = 64
_LARGEST_INPUT = 1 << 18
_inputs: dict[bytes, Object] = {}


def request(data: bytes) -> Request:
    """A whole RunFunctionRequest."""
    fields = read_fields(data)
    meta = read_fields(read_message(fields, 0x0A) or b"")
    return Request(
        _state(read_message(fields, 0x12)),
        _state(read_message(fields, 0x1A)),
        input=read_input(read_message(fields, 0x22)),
        context=_struct(fields, 0x2A),
        extra_resources=_resource_lists(fields, 0x32),
        credentials={name: read_credentials(value) for name, value in read_entries(fields, 0x3A)},
        required_resources=_resource_lists(fields, 0x42),
        required_schemas={
            name: _struct(read_fields(value), 0x0A) for name, value in read_entries(fields, 0x4A)
        },
        capabilities=read_capabilities(meta),
        tag=read_text(meta, 0x0A),
    )


def response(data: bytes) -> Response:
    """A whole RunFunctionResponse."""
    fields = read_fields(data)
    meta = read_fields(read_message(fields, 0x0A) or b"")
    desired = read_message(fields, 0x12)
    requirements = read_message(fields, 0x2A)
    return Response(
        desired=None if desired is None else _state(desired),
        results=_results(fields.get(0x1A, [])),
        context=_struct(fields, 0x22),
        requirements=None if requirements is None else _requirements(requirements),
        conditions=tuple(map(_condition, fields.get(0x32, [])[:MOST_REPORTED])),
        ttl=_duration(read_message(meta, 0x12)),
        tag=read_text(meta, 0x0A),
        output=_struct(fields, 0x3A),
    )


def read_input(data: bytes | None) -> Object | None:
    """A step's input is the same in every call, so it is read once; like every object it is never changed."""
    if data is None:
        return None
    known = _inputs.get(data)
    if known is None:
        known = decode_struct(data)
        if len(data) <= _LARGEST_INPUT:
            while len(_inputs) >= _MOST_INPUTS:
                _inputs.pop(next(iter(_inputs), b""), None)
            _inputs[data] = known
    return known


def read_capabilities(meta: Fields) -> tuple[int, ...]:
    """What the engine says it can do."""
    numbers = [_signed32(number) for number in meta.get(0x10, ())]
    for packed in meta.get(0x12, ()):
        at = 0
        while at < len(packed):
            number, at = read_varint(packed, at)
            numbers.append(_signed32(number))
    return tuple(numbers)


def _state(data: bytes | None) -> State:
    if data is None:
        return NO_STATE
    fields = read_fields(data)
    composite = read_message(fields, 0x0A)
    return State(
        None if composite is None else _resource(composite),
        {name: _resource(value) for name, value in read_entries(fields, 0x12)},
    )


def _resource(data: bytes) -> Resource:
    fields = read_fields(data)
    return Resource(_struct(fields, 0x0A) or {}, dict(read_entries(fields, 0x12)), read_enum(fields, 0x18))


def _resource_lists(fields: Fields, tag: int) -> dict[str, tuple[Resource, ...]]:
    return {
        name: tuple(map(_resource, read_fields(value).get(0x0A, ())))
        for name, value in read_entries(fields, tag)
    }


def read_credentials(data: bytes) -> dict[str, bytes]:
    """The data of one of the request's credentials."""
    credential_data = read_message(read_fields(data), 0x0A) or b""
    return dict(read_entries(read_fields(credential_data), 0x0A))


def _results(messages: list[bytes]) -> tuple[Result, ...]:
    """The first results, and the first fatal one among the others: it decides what becomes of the run."""
    first, others = messages[:MOST_REPORTED], map(_result, messages[MOST_REPORTED:])
    fatal = next((result for result in others if result.severity == SEVERITY_FATAL), None)
    return (*map(_result, first), *(() if fatal is None else (fatal,)))


def _result(data: bytes) -> Result:
    fields = read_fields(data)
    return Result(
        read_enum(fields, 0x08),
        read_text(fields, 0x12),
        _optional_text(fields, 0x1A),
        _optional_enum(fields, 0x20),
    )


def _condition(data: bytes) -> Condition:
    fields = read_fields(data)
    return Condition(
        read_text(fields, 0x0A),
        read_enum(fields, 0x10),
        read_text(fields, 0x1A),
        _optional_text(fields, 0x22),
        _optional_enum(fields, 0x28),
    )


def _requirements(data: bytes) -> Requirements:
    fields = read_fields(data)
    return Requirements(
        resources={name: _selector(value) for name, value in read_entries(fields, 0x12)},
        extra_resources={name: _selector(value) for name, value in read_entries(fields, 0x0A)},
        schemas={name: _schema_selector(value) for name, value in read_entries(fields, 0x1A)},
        watch_resources=tuple(map(_resource_ref, fields.get(0x1F4A, ()))),
    )


def _resource_ref(data: bytes) -> ResourceRef:
    fields = read_fields(data)
    return ResourceRef(
        read_text(fields, 0x0A),
        read_text(fields, 0x12),
        read_text(fields, 0x1A),
        _optional_text(fields, 0x22),
    )


def _selector(data: bytes) -> ResourceSelector:
    fields = read_fields(data)
    labels = read_message(fields, 0x22)
    # match_name and match_labels exclude each other: of two, the one that came last counts.
    by_labels = labels is not None and _last_tag(data, 0x1A, 0x22) == 0x22
    return ResourceSelector(
        read_text(fields, 0x0A),
        read_text(fields, 0x12),
        None if by_labels else _optional_text(fields, 0x1A),
        _labels(labels or b"") if by_labels else None,
        _optional_text(fields, 0x2A),
    )


def _last_tag(data: bytes, *tags: int) -> int | None:
    return next((tag for tag, _ in reversed(_scan(data)) if tag in tags), None)


def _schema_selector(data: bytes) -> SchemaSelector:
    fields = read_fields(data)
    return SchemaSelector(read_text(fields, 0x0A), read_text(fields, 0x12))


def _labels(data: bytes) -> dict[str, str]:
    return {name: str(value, "utf-8") for name, value in read_entries(read_fields(data), 0x0A)}


def _duration(data: bytes | None) -> int | None:
    if data is None:
        return None
    fields = read_fields(data)
    return _signed64(_last(fields, 0x08)) * SECOND + _signed32(_last(fields, 0x10))


def _scan(data: bytes) -> list[tuple[int, Any]]:
    """The fields of a message in the order they were sent; those of a fixed size are not known here."""
    fields: list[tuple[int, Any]] = []
    at, end = 0, len(data)
    while at < end:
        tag, at = read_varint(data, at)
        wire_type = tag & 7
        if tag < 8 or tag > _LARGEST_TAG:
            raise StructError("a field has a damaged number")
        if len(fields) >= _MOST_FIELDS:
            raise StructError(f"a message has more than {_MOST_FIELDS} fields")
        if wire_type == 2:
            start, at = read_chunk(data, at, end)
            fields.append((tag, data[start:at]))
        elif wire_type == 0:
            number, at = read_varint(data, at)
            fields.append((tag, number))
        else:
            at = skip_field(data, at, end, wire_type)
    return fields


def read_fields(data: bytes) -> Fields:
    """The fields of a message by tag, each with its values in the order they were sent."""
    fields: Fields = {}
    for tag, value in _scan(data):
        if tag in fields:
            fields[tag].append(value)
        else:
            fields[tag] = [value]
    return fields


def read_entries(fields: Fields, tag: int) -> list[tuple[str, bytes]]:
    """The entries of a map; a key that comes twice has its last value."""
    return [
        (read_text(entry, 0x0A), _last_bytes(entry, 0x12)) for entry in map(read_fields, fields.get(tag, ()))
    ]


def read_message(fields: Fields, tag: int) -> bytes | None:
    """The bytes of a message in a message, which may have come in parts."""
    values = fields.get(tag)
    return None if values is None else values[0] if len(values) == 1 else b"".join(values)


def _struct(fields: Fields, tag: int) -> Object | None:
    data = read_message(fields, tag)
    return None if data is None else decode_struct(data)


def _last(fields: Fields, tag: int) -> int:
    return fields[tag][-1] if tag in fields else 0


def _last_bytes(fields: Fields, tag: int) -> bytes:
    return fields[tag][-1] if tag in fields else b""


def read_text(fields: Fields, tag: int) -> str:
    """A string; empty where there is none."""
    return str(fields[tag][-1], "utf-8") if tag in fields else ""


def _optional_text(fields: Fields, tag: int) -> str | None:
    return str(fields[tag][-1], "utf-8") if tag in fields else None


def read_enum(fields: Fields, tag: int) -> int:
    """The number of an enum; zero where there is none."""
    return _signed32(fields[tag][-1]) if tag in fields else 0


def _optional_enum(fields: Fields, tag: int) -> int | None:
    return _signed32(fields[tag][-1]) if tag in fields else None


def _signed32(number: int) -> int:
    return (number & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def _signed64(number: int) -> int:
    return (number & 0xFFFFFFFFFFFFFFFF ^ 0x8000000000000000) - 0x8000000000000000
