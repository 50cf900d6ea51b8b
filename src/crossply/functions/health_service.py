"""The standard health service of gRPC, for a server whose services are all healthy while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from crossply.compose.wire_decode import read_fields, read_text
from crossply.compose.wire_encode import write_entry
from crossply.values.protobuf_struct import StructError

if TYPE_CHECKING:
    import grpc

SERVICE = "grpc.health.v1.Health"
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
        if _service(data, context) not in known:
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return _SERVING

    def watch(
        data: bytes, context: grpc.ServicerContext, send_response_callback: Callable[[bytes], None]
    ) -> None:
        """Send the status, which does not change any more, and leave the call open."""
        send_response_callback(_SERVING if _service(data, context) in known else _SERVICE_UNKNOWN)

    # Without this, each client that watches takes one of the threads that answer calls.
    watch.experimental_non_blocking = True  # type: ignore[attr-defined]
    watch.experimental_thread_pool = None  # type: ignore[attr-defined]
    return grpc.method_handlers_generic_handler(
        SERVICE,
        {
            "Check": grpc.unary_unary_rpc_method_handler(check),
            "List": grpc.unary_unary_rpc_method_handler(lambda _data, _context: listed),
            "Watch": grpc.unary_stream_rpc_method_handler(watch),
        },
    )


def _service(data: bytes, context: grpc.ServicerContext) -> str:
    import grpc

    try:
        return read_text(read_fields(data), _SERVICE_TAG)
    except _DAMAGED:
        context.abort(grpc.StatusCode.INTERNAL, "the request is not a HealthCheckRequest")
