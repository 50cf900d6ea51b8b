"""The protobuf envelope: four magic bytes, then the kind and the bytes of the object."""

from __future__ import annotations

from crossply.apiserver.endpoints.status_errors import StatusError, bad_request, internal_error
from crossply.apiserver.protobuf.decode import decode_message
from crossply.apiserver.protobuf.encode import encode_message
from crossply.apiserver.protobuf.message_table import message_of
from crossply.apiserver.protobuf.single_value_messages import text
from crossply.apiserver.protobuf.wire import Malformed, chunk, fields
from crossply.values import Object
from crossply.values.api_version import api_group, split_api_version

_PREFIX = b"k8s\0"
_NO_CONTENT_TYPE = chunk(3, b"") + chunk(4, b"")
_SHOWN = 30
_OPTIONS = "DeleteOptions"
_SCHEME = 'in scheme "pkg/runtime/scheme.go:111"'


def decode_object(data: bytes, kind: str, api_version: str = "") -> Object:
    """The object in a body; raises BadRequest. `kind` and `api_version` are expected."""
    try:
        sent_version, sent_kind, raw = _unwrapped(data)
    except Malformed as problem:
        raise _unrecognized(kind, problem, data) from None
    sent_version, sent_kind = sent_version or api_version, sent_kind or kind
    try:
        body: Object = decode_message(_expected_message(sent_version, sent_kind, api_version, kind), raw)
    except Malformed as problem:
        _, version = split_api_version(sent_version)
        raise bad_request(
            f'{sent_kind} in version "{version}" cannot be handled as a {kind}: {problem}'
        ) from None
    return {"apiVersion": sent_version, "kind": sent_kind, **body}


def _expected_message(sent_version: str, sent_kind: str, api_version: str, kind: str) -> str:
    """The message of the kind in the body, which must be the expected one."""
    name = message_of(sent_version, sent_kind)
    if name is None or (kind == _OPTIONS and sent_kind != kind):
        raise Malformed(f'no kind "{sent_kind}" is registered for version "{sent_version}" {_SCHEME}')
    if sent_kind != kind:
        _, version = split_api_version(sent_version)
        home = api_group(api_version).partition(".")[0] or "core"
        raise Malformed(f"converting ({version}.{sent_kind}) to ({home}.{kind}): unknown conversion")
    return name


def encode_object(obj: Object) -> bytes:
    """An object of a built-in kind, or a Status, in its envelope."""
    api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
    name = message_of(api_version, kind)
    if name is None:
        raise internal_error(f"{kind} of {api_version} has no protobuf form")
    try:
        raw = encode_message(name, obj)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise internal_error(f"the {kind} cannot be written as protobuf") from None
    type_meta = chunk(1, api_version.encode()) + chunk(2, kind.encode())
    return _PREFIX + chunk(1, type_meta) + chunk(2, raw) + _NO_CONTENT_TYPE


def encode_event(kind: str, obj: Object) -> bytes:
    """A watch event as a frame: its length in four bytes, its type, the object in its envelope."""
    event = chunk(1, kind.encode()) + chunk(2, chunk(1, encode_object(obj)))
    return len(event).to_bytes(4, "big") + event


def _unwrapped(data: bytes) -> tuple[str, str, bytes]:
    """The apiVersion, kind and object bytes of a body."""
    if not data:
        raise Malformed("empty data")
    if not data.startswith(_PREFIX):
        prefix = " ".join(str(byte) for byte in _PREFIX)
        raise Malformed(f"provided data does not appear to be a protobuf message, expected prefix [{prefix}]")
    if len(data) == len(_PREFIX):
        raise Malformed("empty body")
    raw, meta = b"", {}
    for number, wire_type, value in fields(data[len(_PREFIX) :]):
        if number in (1, 2) and not isinstance(value, bytes):
            raise Malformed(
                f"proto: wrong wireType = {wire_type} for field {('TypeMeta', 'Raw')[number - 1]}"
            )
        if number == 1 and isinstance(value, bytes):
            meta = {key: text(raw) for key, _, raw in fields(value) if key in (1, 2)}
        elif number == 2 and isinstance(value, bytes):
            raw = value
    return meta.get(1, ""), meta.get(2, ""), raw


def _unrecognized(kind: str, problem: Malformed, data: bytes) -> StatusError:
    shown = data[:_SHOWN].hex() + (" ..." if len(data) > _SHOWN else "") or "<empty>"
    if data.startswith(b"{"):
        shown = data[:_SHOWN].decode("utf-8", "replace") + (" ..." if len(data) > _SHOWN else "")
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {problem} ({shown})")
