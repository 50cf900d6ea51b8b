"""A request that came as bytes.

It is only cut into its parts: each resource stays the bytes it was until the function looks at it, and those
that it does not touch are in the response as they were in the request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crossply.compose import wire_decode
from crossply.compose.wire import encode_response
from crossply.compose.wire_decode import read_entries, read_fields, read_message
from crossply.compose.wire_encode import write_chunk, write_entry
from crossply.sdk.arrival import Draft, Parts, Piece
from crossply.values import Object
from crossply.values.structs import decode_struct, encode_struct, from_wire, read_chunk

_OBSERVED, _DESIRED, _INPUT, _CONTEXT = 0x12, 0x1A, 0x22, 0x2A
_EXTRA, _CREDENTIALS, _REQUIRED, _SCHEMAS = 0x32, 0x3A, 0x42, 0x4A


class Sent:
    """A request as bytes."""

    __slots__ = ("_fields", "_meta", "desired")

    def __init__(self, data: bytes) -> None:
        self._fields = read_fields(data)
        self._meta = read_fields(read_message(self._fields, 0x0A) or b"")
        self.desired = _cut(read_message(self._fields, _DESIRED) or b"")

    @property
    def tag(self) -> str:
        """What identifies the request."""
        return wire_decode.read_text(self._meta, 0x0A)

    @property
    def capabilities(self) -> tuple[int, ...]:
        """What the engine says it can do."""
        return wire_decode.read_capabilities(self._meta)

    @property
    def observed(self) -> Parts:
        """What there is."""
        return _cut(read_message(self._fields, _OBSERVED) or b"")

    def piece(self, part: bytes) -> Piece:
        """A resource of the parts."""
        fields = read_fields(part)
        frozen = read_message(fields, 0x0A) or b""
        return Piece(frozen, dict(read_entries(fields, 0x12)), wire_decode.read_enum(fields, 0x18))

    def open(self, frozen: bytes) -> Object:
        """An object of the function's own."""
        opened: Object = from_wire(decode_struct(frozen))
        return opened

    def freeze(self, fields: Object) -> bytes:
        """The bytes of an object."""
        return encode_struct(fields)

    def input(self) -> Object | None:
        """The input of the step."""
        given = wire_decode.read_input(read_message(self._fields, _INPUT))
        return None if given is None else from_wire(given)

    def context(self) -> Object | None:
        """What the steps before told each other."""
        data = read_message(self._fields, _CONTEXT)
        return None if data is None else self.open(data)

    def credentials(self) -> Mapping[str, Mapping[str, bytes]]:
        """The data of the step's credentials."""
        entries = read_entries(self._fields, _CREDENTIALS)
        return {name: wire_decode.read_credentials(data) for name, data in entries}

    def required(self) -> Mapping[str, Sequence[bytes]]:
        """The resources that were asked for."""
        lists = [*read_entries(self._fields, _EXTRA), *read_entries(self._fields, _REQUIRED)]
        return {name: read_fields(data).get(0x0A, ()) for name, data in lists}

    def schemas(self) -> Mapping[str, Object | None]:
        """The schemas that were asked for."""
        return {name: self._schema(data) for name, data in read_entries(self._fields, _SCHEMAS)}

    def _schema(self, data: bytes) -> Object | None:
        fields = read_message(read_fields(data), 0x0A)
        return None if fields is None else self.open(fields)

    def finish(self, draft: Draft) -> bytes:
        """The response as bytes."""
        context = encode_struct(draft.context) if draft.context is not None else None
        if context is None:
            context = read_message(self._fields, _CONTEXT)
        parts = [encode_response(draft.rest), write_chunk(b"\x12", _join(draft.desired))]
        if context is not None:
            parts.append(write_chunk(b"\x22", context))
        return b"".join(parts)


def _cut(data: bytes) -> Parts:
    """The resources of a state, each as bytes: this is done for everything in every request."""
    composite: bytes | None = None
    resources: dict[str, bytes] = {}
    at, end = 0, len(data)
    while at < end:
        tag = data[at]
        start, at = read_chunk(data, at + 1, end)
        if tag == 0x12:
            name, value = _entry(data, start, at)
            resources[name] = value
        elif tag == 0x0A and composite is None:
            composite = data[start:at]
        else:
            return _cut_carefully(data)
    return Parts(composite, resources)


def _entry(data: bytes, start: int, end: int) -> tuple[str, bytes]:
    """The key and the value of an entry, in the order that everybody writes them."""
    if data[start] == 0x0A:
        name, value = read_chunk(data, start + 1, end)
        if value < end and data[value] == 0x12:
            begin, stop = read_chunk(data, value + 1, end)
            if stop == end:
                return str(data[name:value], "utf-8"), data[begin:stop]
    return read_entries({0x12: [data[start:end]]}, 0x12)[0]


def _cut_carefully(data: bytes) -> Parts:
    fields = read_fields(data)
    return Parts(read_message(fields, 0x0A), dict(read_entries(fields, 0x12)))


def _join(desired: Parts) -> bytes:
    composite, resources = desired
    parts = [] if composite is None else [write_chunk(b"\x0a", _written(composite))]
    parts += [write_entry(b"\x12", name, _written(resources[name])) for name in sorted(resources)]
    return b"".join(parts)


def _written(part: bytes | Piece) -> bytes:
    if isinstance(part, bytes):
        return part
    written = write_chunk(b"\x0a", part.frozen)
    for name in sorted(part.connection):
        written += write_entry(b"\x12", name, part.connection[name])
    return written + bytes((0x18, part.ready)) if part.ready else written
