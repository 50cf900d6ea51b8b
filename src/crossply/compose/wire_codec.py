"""The messages of the function protocol as bytes, and back.

The engine and a function exchange `RunFunctionRequest` and `RunFunctionResponse` (see
`compose.function_messages`). This is the way in and out of their protobuf encoding, in plain Python:
`wire_encode` writes, `wire_decode` reads. The encoding is deterministic (fields by number, maps by key):
equal messages are equal bytes, a request has a digest, and an object that was encoded once is joined into
later requests as it is.
"""

from __future__ import annotations

from crossply.compose import wire_decode, wire_encode
from crossply.compose.function_messages import Request, Response
from crossply.errors import CrossplyError
from crossply.values.protobuf_struct import StructError

__all__ = [
    "WireError",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_response",
    "request_tag",
]

_NOT_READABLE = (StructError, UnicodeDecodeError, IndexError)
_NOT_WRITABLE = (StructError, UnicodeEncodeError, OverflowError)


class WireError(CrossplyError):
    """The bytes of a function message are damaged, or a message cannot be written as bytes."""

    code = "CP-216"
    hint = "the function must serve apiextensions.fn.proto.v1 or v1beta1"


def encode_request(request: Request) -> bytes:
    """The request as bytes, with its tag and the engine's capabilities in `meta`."""
    try:
        body = wire_encode.request_body(request)
        tag = request._tag
        if tag is None:
            # The body is at hand: taking the digest here saves encoding it a second time.
            tag = request._tag = _digest(body)
        return wire_encode.request_meta(tag, request.capabilities) + body
    except _NOT_WRITABLE as reason:
        raise WireError(f"cannot encode RunFunctionRequest: {reason}") from None


def request_tag(request: Request) -> str:
    """The hex SHA-256 of the request's encoding without `meta`."""
    try:
        return _digest(wire_encode.request_body(request))
    except _NOT_WRITABLE as reason:
        raise WireError(f"cannot encode RunFunctionRequest: {reason}") from None


def encode_response(response: Response) -> bytes:
    """The response as bytes."""
    try:
        return wire_encode.response(response)
    except _NOT_WRITABLE as reason:
        raise WireError(f"cannot encode RunFunctionResponse: {reason}") from None


def decode_request(data: bytes) -> Request:
    """The request that these bytes hold; every number in it is a float."""
    try:
        return wire_decode.request(data)
    except _NOT_READABLE as reason:
        raise WireError(f"cannot decode RunFunctionRequest: {_describe(reason)}") from None


def decode_response(data: bytes) -> Response:
    """The response that these bytes hold; every number in it is a float."""
    try:
        return wire_decode.response(data)
    except _NOT_READABLE as reason:
        raise WireError(f"cannot decode RunFunctionResponse: {_describe(reason)}") from None


def _describe(reason: Exception) -> str:
    if isinstance(reason, IndexError):
        return "a message ends in the middle of a field"
    if isinstance(reason, UnicodeDecodeError):
        return "a string is not UTF-8"
    return str(reason)


def _digest(data: bytes) -> str:
    from hashlib import sha256  # most runs never need a tag, and OpenSSL takes a while to load

    return sha256(data).hexdigest()
