"""Reading function messages, from bytes that a stranger sent.

`_gather` sorts the fields of one message by tag; fields that are not known here are dropped, as protobuf
asks. What occurs several times where one is expected is joined if it is a message (that is how protobuf
merges) and otherwise the last one counts. Nesting is bounded by the messages and, inside an object, by
`values.structs`; damaged bytes raise StructError, IndexError or UnicodeDecodeError, which `wire` translates.
"""

from __future__ import annotations

from typing import Any

from crossply.compose.messages import (
    SECOND,
    Condition,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    Result,
    SchemaSelector,
    State,
)
from crossply.values import Object
from crossply.values.structs import StructError, decode_struct, read_chunk, read_varint, skip_field

_Fields = dict[int, list[Any]]
"""The values of a message's fields by tag: bytes for wire type 2, a number for wire type 0."""

_LARGEST_TAG = (1 << 32) - 1

_MOST_FIELDS = 100_000
"""How many fields one message may have: a few bytes on the wire are a hundred times as many in memory."""

_MOST_INPUTS = 64
_LARGEST_INPUT = 1 << 18
_inputs: dict[bytes, Object] = {}


def request(data: bytes) -> Request:
    """A whole RunFunctionRequest."""
    fields = _gather(data)
    meta = _gather(_message(fields, 0x0A) or b"")
    return Request(
        _state(_message(fields, 0x12) or b""),
        _state(_message(fields, 0x1A) or b""),
        input=_input(_message(fields, 0x22)),
        context=_struct(fields, 0x2A),
        extra_resources=_resource_lists(fields, 0x32),
        credentials={name: _credentials(value) for name, value in _entries(fields, 0x3A)},
        required_resources=_resource_lists(fields, 0x42),
        required_schemas={name: _struct(_gather(value), 0x0A) for name, value in _entries(fields, 0x4A)},
        capabilities=_capabilities(meta),
        tag=_text(meta, 0x0A),
    )


def response(data: bytes) -> Response:
    """A whole RunFunctionResponse."""
    fields = _gather(data)
    meta = _gather(_message(fields, 0x0A) or b"")
    desired = _message(fields, 0x12)
    requirements = _message(fields, 0x2A)
    return Response(
        desired=None if desired is None else _state(desired),
        results=tuple(map(_result, fields.get(0x1A, ()))),
        context=_struct(fields, 0x22),
        requirements=None if requirements is None else _requirements(requirements),
        conditions=tuple(map(_condition, fields.get(0x32, ()))),
        ttl=_duration(_message(meta, 0x12)),
        tag=_text(meta, 0x0A),
        output=_struct(fields, 0x3A),
    )


def _input(data: bytes | None) -> Object | None:
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


def _capabilities(meta: _Fields) -> tuple[int, ...]:
    numbers = [_signed32(number) for number in meta.get(0x10, ())]
    for packed in meta.get(0x12, ()):
        at = 0
        while at < len(packed):
            number, at = read_varint(packed, at)
            numbers.append(_signed32(number))
    return tuple(numbers)


def _state(data: bytes) -> State:
    fields = _gather(data)
    composite = _message(fields, 0x0A)
    return State(
        None if composite is None else _resource(composite),
        {name: _resource(value) for name, value in _entries(fields, 0x12)},
    )


def _resource(data: bytes) -> Resource:
    fields = _gather(data)
    return Resource(_struct(fields, 0x0A) or {}, dict(_entries(fields, 0x12)), _enum(fields, 0x18))


def _resource_lists(fields: _Fields, tag: int) -> dict[str, tuple[Resource, ...]]:
    return {
        name: tuple(map(_resource, _gather(value).get(0x0A, ()))) for name, value in _entries(fields, tag)
    }


def _credentials(data: bytes) -> dict[str, bytes]:
    credential_data = _message(_gather(data), 0x0A) or b""
    return dict(_entries(_gather(credential_data), 0x0A))


def _result(data: bytes) -> Result:
    fields = _gather(data)
    return Result(
        _enum(fields, 0x08),
        _text(fields, 0x12),
        _optional_text(fields, 0x1A),
        _optional_enum(fields, 0x20),
    )


def _condition(data: bytes) -> Condition:
    fields = _gather(data)
    return Condition(
        _text(fields, 0x0A),
        _enum(fields, 0x10),
        _text(fields, 0x1A),
        _optional_text(fields, 0x22),
        _optional_enum(fields, 0x28),
    )


def _requirements(data: bytes) -> Requirements:
    fields = _gather(data)
    return Requirements(
        resources={name: _selector(value) for name, value in _entries(fields, 0x12)},
        extra_resources={name: _selector(value) for name, value in _entries(fields, 0x0A)},
        schemas={name: _schema_selector(value) for name, value in _entries(fields, 0x1A)},
        watch_resources={name: _selector(value) for name, value in _entries(fields, 0x1F4A)},
    )


def _selector(data: bytes) -> ResourceSelector:
    fields = _gather(data)
    labels = _message(fields, 0x22)
    # match_name and match_labels exclude each other: of two, the one that came last counts.
    by_labels = labels is not None and _last_tag(data, 0x1A, 0x22) == 0x22
    return ResourceSelector(
        _text(fields, 0x0A),
        _text(fields, 0x12),
        None if by_labels else _optional_text(fields, 0x1A),
        _labels(labels or b"") if by_labels else None,
        _optional_text(fields, 0x2A),
    )


def _last_tag(data: bytes, *tags: int) -> int | None:
    return next((tag for tag, _ in reversed(_scan(data)) if tag in tags), None)


def _schema_selector(data: bytes) -> SchemaSelector:
    fields = _gather(data)
    return SchemaSelector(_text(fields, 0x0A), _text(fields, 0x12))


def _labels(data: bytes) -> dict[str, str]:
    return {name: str(value, "utf-8") for name, value in _entries(_gather(data), 0x0A)}


def _duration(data: bytes | None) -> int | None:
    if data is None:
        return None
    fields = _gather(data)
    return _signed64(_last(fields, 0x08)) * SECOND + _signed32(_last(fields, 0x10))


def _scan(data: bytes) -> list[tuple[int, Any]]:
    """The fields of a message in the order they were sent; those of a fixed size are not known here."""
    found: list[tuple[int, Any]] = []
    at, end = 0, len(data)
    while at < end:
        tag, at = read_varint(data, at)
        wire_type = tag & 7
        if tag < 8 or tag > _LARGEST_TAG:
            raise StructError("a field has a damaged number")
        if len(found) >= _MOST_FIELDS:
            raise StructError(f"a message has more than {_MOST_FIELDS} fields")
        if wire_type == 2:
            start, at = read_chunk(data, at, end)
            found.append((tag, data[start:at]))
        elif wire_type == 0:
            number, at = read_varint(data, at)
            found.append((tag, number))
        else:
            at = skip_field(data, at, end, wire_type)
    return found


def _gather(data: bytes) -> _Fields:
    fields: _Fields = {}
    for tag, value in _scan(data):
        if tag in fields:
            fields[tag].append(value)
        else:
            fields[tag] = [value]
    return fields


def _entries(fields: _Fields, tag: int) -> list[tuple[str, bytes]]:
    """The entries of a map; a key that comes twice has its last value."""
    return [(_text(entry, 0x0A), _last_bytes(entry, 0x12)) for entry in map(_gather, fields.get(tag, ()))]


def _message(fields: _Fields, tag: int) -> bytes | None:
    values = fields.get(tag)
    return None if values is None else values[0] if len(values) == 1 else b"".join(values)


def _struct(fields: _Fields, tag: int) -> Object | None:
    data = _message(fields, tag)
    return None if data is None else decode_struct(data)


def _last(fields: _Fields, tag: int) -> int:
    return fields[tag][-1] if tag in fields else 0


def _last_bytes(fields: _Fields, tag: int) -> bytes:
    return fields[tag][-1] if tag in fields else b""


def _text(fields: _Fields, tag: int) -> str:
    return str(fields[tag][-1], "utf-8") if tag in fields else ""


def _optional_text(fields: _Fields, tag: int) -> str | None:
    return str(fields[tag][-1], "utf-8") if tag in fields else None


def _enum(fields: _Fields, tag: int) -> int:
    return _signed32(fields[tag][-1]) if tag in fields else 0


def _optional_enum(fields: _Fields, tag: int) -> int | None:
    return _signed32(fields[tag][-1]) if tag in fields else None


def _signed32(number: int) -> int:
    return (number & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def _signed64(number: int) -> int:
    return (number & 0xFFFFFFFFFFFFFFFF ^ 0x8000000000000000) - 0x8000000000000000
