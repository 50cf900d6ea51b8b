"""Writing function messages: the field numbers of `apiextensions.fn.proto.v1`, in order.

A field that has its default is left out, one with presence (optional, or a message) is written when it is not
`None`. A state is written unless it is `NO_STATE`. Tags are spelled as the bytes they are: `b"\\x12"` is
field 2, length-delimited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crossply.compose.function_messages import (
    CAPABILITIES,
    NO_STATE,
    SECOND,
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
from crossply.values.protobuf_struct import StructError, encode_struct, varint

_ALL_CAPABILITIES = b"\x12" + varint(len(CAPABILITIES)) + bytes(CAPABILITIES)
_UINT64 = (1 << 64) - 1
_MAX_SECONDS = 315_576_000_000
"""The longest google.protobuf.Duration, ten thousand years."""

_MOST_INPUTS = 64
_LARGEST_INPUT = 1 << 18
_inputs: dict[int, tuple[Object, bytes]] = {}


def request_meta(tag: str, capabilities: tuple[int, ...]) -> bytes:
    """The field `meta` of a request."""
    body = _text(b"\x0a", tag)
    if capabilities == CAPABILITIES:
        body += _ALL_CAPABILITIES
    elif capabilities:
        body += write_chunk(b"\x12", b"".join(map(_integer, capabilities)))
    return write_chunk(b"\x0a", body) if body else b""


def request_body(request: Request) -> bytes:
    """Everything of a request but `meta`."""
    return b"".join(
        (
            _state(b"\x12", request.observed),
            _state(b"\x1a", request.desired),
            _input(request.input),
            _struct(b"\x2a", request.context),
            _resource_lists(b"\x32", request.extra_resources),
            _credentials(b"\x3a", request.credentials),
            _resource_lists(b"\x42", request.required_resources),
            _schemas(b"\x4a", request.required_schemas),
        )
    )


def _input(step_input: Object | None) -> bytes:
    """A step's input is the same object in every call, and never changed, so it is written once.

    The object is kept with its bytes: its identity cannot come to mean another object.
    """
    if step_input is None:
        return b""
    known = _inputs.get(id(step_input))
    if known is not None:
        return known[1]
    written = _struct(b"\x22", step_input)
    if len(written) <= _LARGEST_INPUT:
        while len(_inputs) >= _MOST_INPUTS:
            _inputs.pop(next(iter(_inputs), 0), None)
        _inputs[id(step_input)] = step_input, written
    return written


def response(answer: Response) -> bytes:
    """A whole response."""
    parts = [_response_meta(answer), _state(b"\x12", answer.desired)]
    parts += [write_chunk(b"\x1a", _result(result)) for result in answer.results]
    parts.append(_struct(b"\x22", answer.context))
    if answer.requirements is not None:
        parts.append(write_chunk(b"\x2a", _requirements(answer.requirements)))
    parts += [write_chunk(b"\x32", _condition(condition)) for condition in answer.conditions]
    parts.append(_struct(b"\x3a", answer.output))
    return b"".join(parts)


def _response_meta(answer: Response) -> bytes:
    tag = answer.tag if isinstance(answer.tag, str) else answer.tag.tag
    body = _text(b"\x0a", tag)
    if answer.ttl is not None:
        body += write_chunk(b"\x12", _duration(answer.ttl))
    return write_chunk(b"\x0a", body) if body else b""


def _state(tag: bytes, state: State | None) -> bytes:
    if state is None or state is NO_STATE:
        return b""
    resources = state.resources
    parts = [write_entry(b"\x12", name, write_resource(resources[name])) for name in sorted(resources)]
    if state.composite is not None:
        parts.insert(0, write_chunk(b"\x0a", write_resource(state.composite)))
    return write_chunk(tag, b"".join(parts))


def write_resource(resource: Resource) -> bytes:
    """A resource of a state."""
    snapshot = resource.snapshot
    # A snapshot's bytes were made when the object was first sent: this is what makes large requests cheap.
    fields = snapshot.encoded if snapshot is not None else encode_struct(resource.object)
    body = write_chunk(b"\x0a", fields)  # also where it is empty: a resource always has an object
    if resource.connection_details:
        body += _byte_map(b"\x12", resource.connection_details)
    if resource.ready:
        body += b"\x18" + _integer(resource.ready)
    return body


def _resource_lists(tag: bytes, lists: Mapping[str, Iterable[Resource]]) -> bytes:
    return b"".join(write_entry(tag, name, _items(lists[name])) for name in sorted(lists))


def _items(resources: Iterable[Resource]) -> bytes:
    return b"".join(write_chunk(b"\x0a", write_resource(resource)) for resource in resources)


def _credentials(tag: bytes, credentials: Mapping[str, Mapping[str, bytes]]) -> bytes:
    return b"".join(
        write_entry(tag, name, write_chunk(b"\x0a", _byte_map(b"\x0a", credentials[name])))
        for name in sorted(credentials)
    )


def _schemas(tag: bytes, schemas: Mapping[str, Object | None]) -> bytes:
    return b"".join(write_entry(tag, name, _struct(b"\x0a", schemas[name])) for name in sorted(schemas))


def _result(result: Result) -> bytes:
    return b"".join(
        (
            _enum(b"\x08", result.severity),
            _text(b"\x12", result.message),
            _optional_text(b"\x1a", result.reason),
            _optional_enum(b"\x20", result.target),
        )
    )


def _condition(condition: Condition) -> bytes:
    return b"".join(
        (
            _text(b"\x0a", condition.type),
            _enum(b"\x10", condition.status),
            _text(b"\x1a", condition.reason),
            _optional_text(b"\x22", condition.message),
            _optional_enum(b"\x28", condition.target),
        )
    )


def _requirements(requirements: Requirements) -> bytes:
    return b"".join(
        (
            _selectors(b"\x0a", requirements.extra_resources),
            _selectors(b"\x12", requirements.resources),
            b"".join(
                write_entry(b"\x1a", name, _kind(requirements.schemas[name]))
                for name in sorted(requirements.schemas)
            ),
            # Field 1001 is ours; a reader that does not know it skips it.
            b"".join(write_chunk(b"\xca\x3e", _resource_ref(ref)) for ref in requirements.watch_resources),
        )
    )


def _resource_ref(ref: ResourceRef) -> bytes:
    return _kind(ref) + _text(b"\x1a", ref.name) + _optional_text(b"\x22", ref.namespace)


def _selectors(tag: bytes, selectors: Mapping[str, ResourceSelector]) -> bytes:
    return b"".join(write_entry(tag, name, _selector(selectors[name])) for name in sorted(selectors))


def _selector(selector: ResourceSelector) -> bytes:
    match = _optional_text(b"\x1a", selector.match_name)
    if not match and selector.match_labels is not None:
        match = write_chunk(b"\x22", _labels(selector.match_labels))
    return _kind(selector) + match + _optional_text(b"\x2a", selector.namespace)


def _kind(selector: ResourceSelector | SchemaSelector | ResourceRef) -> bytes:
    return _text(b"\x0a", selector.api_version) + _text(b"\x12", selector.kind)


def _labels(labels: Mapping[str, str]) -> bytes:
    return b"".join(write_entry(b"\x0a", name, labels[name].encode()) for name in sorted(labels))


def _byte_map(tag: bytes, values: Mapping[str, bytes]) -> bytes:
    return b"".join(write_entry(tag, name, values[name]) for name in sorted(values))


def _duration(nanoseconds: int) -> bytes:
    seconds, nanos = divmod(abs(nanoseconds), SECOND)
    if seconds > _MAX_SECONDS:
        raise StructError(f"a duration of {seconds} seconds is too long")
    sign = -1 if nanoseconds < 0 else 1  # both parts carry the sign
    return _enum(b"\x08", sign * seconds) + _enum(b"\x10", sign * nanos)


def write_entry(tag: bytes, name: str, value: bytes) -> bytes:
    """One entry of a map. Key and value are written even when empty, as every implementation does."""
    key = name.encode()
    body = b"".join((b"\x0a", varint(len(key)), key, b"\x12", varint(len(value)), value))
    return tag + varint(len(body)) + body


def write_chunk(tag: bytes, payload: bytes) -> bytes:
    """A field with a length."""
    return tag + varint(len(payload)) + payload


def _struct(tag: bytes, fields: Object | None) -> bytes:
    return b"" if fields is None else write_chunk(tag, encode_struct(fields))


def _text(tag: bytes, text: str) -> bytes:
    return write_chunk(tag, text.encode()) if text else b""


def _optional_text(tag: bytes, text: str | None) -> bytes:
    return b"" if text is None else write_chunk(tag, text.encode())


def _enum(tag: bytes, number: int) -> bytes:
    return tag + _integer(number) if number else b""


def _optional_enum(tag: bytes, number: int | None) -> bytes:
    return b"" if number is None else tag + _integer(number)


def _integer(number: int) -> bytes:
    return varint(number & _UINT64)
