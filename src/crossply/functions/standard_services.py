"""The standard services of gRPC that clients and probes expect of a function server: health and reflection.

While the server runs, all its services are healthy. Reflection says which they are, and what their messages
are: `proto/descriptors.py` has the descriptions as bytes, so nothing here needs protobuf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from crossply.compose.wire_decode import Fields, read_fields, read_text
from crossply.compose.wire_encode import write_chunk, write_entry
from crossply.values.protobuf_struct import StructError

if TYPE_CHECKING:
    import grpc

HEALTH_SERVICE = "grpc.health.v1.Health"
_SERVICE_TAG, _STATUSES_TAG = 0x0A, b"\x0a"
_SERVING, _SERVICE_UNKNOWN = b"\x08\x01", b"\x08\x03"
"""A HealthCheckResponse each."""
_DAMAGED = (StructError, IndexError, UnicodeDecodeError)


def health_handler(services: Iterable[str]) -> Any:
    """The gRPC handler of the health service; the empty name, which is the server, is healthy too."""
    import grpc

    known = frozenset(("", *services))
    listed = b"".join(write_entry(_STATUSES_TAG, name, _SERVING) for name in sorted(known))

    def check(data: bytes, context: grpc.ServicerContext) -> bytes:
        if _requested_service(data, context) not in known:
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return _SERVING

    def watch(
        data: bytes, context: grpc.ServicerContext, send_response_callback: Callable[[bytes], None]
    ) -> None:
        """Send the status, which does not change any more, and leave the call open."""
        send_response_callback(_SERVING if _requested_service(data, context) in known else _SERVICE_UNKNOWN)

    # Without this, each client that watches takes one of the threads that answer calls.
    watch.experimental_non_blocking = True  # type: ignore[attr-defined]
    watch.experimental_thread_pool = None  # type: ignore[attr-defined]
    return grpc.method_handlers_generic_handler(
        HEALTH_SERVICE,
        {
            "Check": grpc.unary_unary_rpc_method_handler(check),
            "List": grpc.unary_unary_rpc_method_handler(lambda _data, _context: listed),
            "Watch": grpc.unary_stream_rpc_method_handler(watch),
        },
    )


def _requested_service(data: bytes, context: grpc.ServicerContext) -> str:
    import grpc

    try:
        return read_text(read_fields(data), _SERVICE_TAG)
    except _DAMAGED:
        context.abort(grpc.StatusCode.INTERNAL, "the request is not a HealthCheckRequest")


_REFLECTION_SERVICES = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
_METHOD = "ServerReflectionInfo"

# The fields of a ServerReflectionRequest.
_HOST, _BY_FILE_NAME, _BY_SYMBOL, _BY_EXTENSION, _EXTENSIONS_OF, _LIST = 0x0A, 0x1A, 0x22, 0x2A, 0x32, 0x3A
# The fields of a ServerReflectionResponse.
_VALID_HOST, _ORIGINAL, _FILES, _EXTENSION_NUMBERS, _LISTED, _ERROR = (
    bytes([tag]) for tag in (0x0A, 0x12, 0x22, 0x2A, 0x32, 0x3A)
)
_FIRST = b"\x0a"
_NOT_FOUND = b"\x08\x05" + write_chunk(b"\x12", b"not found")
_INVALID_ARGUMENT = b"\x08\x03" + write_chunk(b"\x12", b"invalid argument")
"""An ErrorResponse each: a code of gRPC, and its name."""


def reflection_handlers(services: Iterable[str]) -> list[Any]:
    """The gRPC handlers of both versions of the reflection service, for a server with these services."""
    import grpc

    names = sorted((*services, *_REFLECTION_SERVICES))
    listed = write_chunk(_LISTED, b"".join(write_chunk(_FIRST, _service(name)) for name in names))

    def answer(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        for request in requests:
            try:
                yield _response(request, listed)
            except (StructError, IndexError, UnicodeDecodeError):
                context.abort(grpc.StatusCode.INTERNAL, "the request is not a ServerReflectionRequest")

    method = grpc.stream_stream_rpc_method_handler(answer)
    return [
        grpc.method_handlers_generic_handler(service, {_METHOD: method}) for service in _REFLECTION_SERVICES
    ]


def _service(name: str) -> bytes:
    return write_chunk(_FIRST, name.encode())


def _response(request: bytes, listed: bytes) -> bytes:
    fields = read_fields(request)
    host = fields.get(_HOST, [b""])[-1]
    echoed = write_chunk(_VALID_HOST, host) if host else b""
    return echoed + write_chunk(_ORIGINAL, request) + _answer(fields, listed)


def _answer(fields: Fields, listed: bytes) -> bytes:
    from crossply.functions.proto.descriptors import FILES, SYMBOLS

    if _BY_FILE_NAME in fields:
        return _files(_text(fields, _BY_FILE_NAME), FILES)
    if _BY_SYMBOL in fields:
        return _files(_file_of(_text(fields, _BY_SYMBOL), SYMBOLS), FILES)
    if _EXTENSIONS_OF in fields and _text(fields, _EXTENSIONS_OF) in SYMBOLS:
        return write_chunk(_EXTENSION_NUMBERS, write_chunk(_FIRST, fields[_EXTENSIONS_OF][-1]))
    if _EXTENSIONS_OF in fields or _BY_EXTENSION in fields:
        return write_chunk(_ERROR, _NOT_FOUND)
    return listed if _LIST in fields else write_chunk(_ERROR, _INVALID_ARGUMENT)


def _text(fields: Fields, tag: int) -> str:
    return bytes(fields[tag][-1]).decode()


def _file_of(symbol: str, symbols: dict[str, str]) -> str:
    """The file of a symbol: a method, a field and a nested message are where what they are in is."""
    while symbol and symbol not in symbols:
        symbol = symbol.rpartition(".")[0]
    return symbols.get(symbol, "")


def _files(name: str, files: dict[str, tuple[bytes, tuple[str, ...]]]) -> bytes:
    """A file, and all that it imports after it."""
    if name not in files:
        return write_chunk(_ERROR, _NOT_FOUND)
    names = [name]
    for listed in names:
        names += [imported for imported in files[listed][1] if imported not in names]
    return write_chunk(_FILES, b"".join(write_chunk(_FIRST, files[listed][0]) for listed in names))
