"""Serving a built-in function over gRPC, to any engine that speaks the function protocol.

A request is bytes until `compose.wire` reads it: gRPC only carries it, for v1 and v1beta1 alike, whose
messages are the same. Reflection and health are served beside, as every function's server does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from crossply.compose.messages import Function
from crossply.compose.wire import decode_request, encode_response
from crossply.errors import CrossplyError
from crossply.functions.failures import FunctionError, ServeError
from crossply.functions.remote import BETA_METHOD, METHOD, read_certificate, silence_grpc
from crossply.functions.time_limit import TimeLimit, TimeLimitReached

if TYPE_CHECKING:
    import grpc

CALL_LIMIT = 120.0
"""Seconds that one call may take, as long as the engine's own deadline for a whole run."""

GRACE = 5.0
"""Seconds that running calls get to finish when the server is stopped."""

_WORKERS = 32


class ServerSettings(NamedTuple):
    """Where and how a function is served."""

    address: str
    """`host:port`, `:port` for every interface, or the path of a unix socket."""
    network: str = "tcp"
    certificates: str | None = None
    """A directory with tls.crt, tls.key and the ca.crt that clients are verified by; plaintext without."""
    max_request: int = 4 << 20
    call_limit: float = CALL_LIMIT
    log: Callable[[str], None] | None = None
    """Told a line for every call."""


class FunctionServer:
    """One function, served until it is stopped."""

    def __init__(self, name: str, function: Function, settings: ServerSettings) -> None:
        self._limit = TimeLimit()
        self._server = _create(_Service(name, function, settings, self._limit).handlers(), settings)
        self.port = _listen(self._server, settings)
        self._server.start()

    def stop(self) -> None:
        """Refuse new calls, let the running ones finish or end them after a while, and close."""
        self._server.stop(GRACE).wait()
        self._limit.close()


class _Service:
    """Answers the calls of one function."""

    def __init__(self, name: str, function: Function, settings: ServerSettings, limit: TimeLimit) -> None:
        self._name = name
        self._function = function
        self._settings = settings
        self._limit = limit

    def handlers(self) -> list[Any]:
        """The gRPC handlers of both versions of the protocol."""
        import grpc

        call = grpc.unary_unary_rpc_method_handler(self._answer)
        paths = [method.split("/") for method in (METHOD, BETA_METHOD)]
        return [grpc.method_handlers_generic_handler(service, {name: call}) for _, service, name in paths]

    def _answer(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        import grpc

        begin = time.perf_counter()
        allowed = min(context.time_remaining() or self._settings.call_limit, self._settings.call_limit)
        try:
            reply = self._limit.run(allowed, lambda: encode_response(self._function(decode_request(data))))
        except TimeLimitReached:
            self._refuse(context, grpc.StatusCode.DEADLINE_EXCEEDED, f"still running after {allowed:.0f} s")
        except CrossplyError as problem:
            self._refuse(context, grpc.StatusCode.INTERNAL, str(problem))
        except Exception as problem:  # noqa: BLE001 - whatever a function raises, the server lives on
            self._refuse(context, grpc.StatusCode.INTERNAL, f"{type(problem).__name__}: {problem}")
        self._tell(data, reply, begin)
        return reply

    def _refuse(self, context: grpc.ServicerContext, code: grpc.StatusCode, reason: str) -> NoReturn:
        if self._settings.log:
            self._settings.log(f"{self._name}: {code.name}: {reason}")
        context.abort(code, f"function {self._name}: {reason}")

    def _tell(self, data: bytes, reply: bytes, begin: float) -> None:
        if self._settings.log:
            took = (time.perf_counter() - begin) * 1000
            self._settings.log(f"{self._name}: {len(data)} bytes in, {len(reply)} bytes out, {took:.1f} ms")


def _create(handlers: list[Any], settings: ServerSettings) -> grpc.Server:
    silence_grpc()
    import grpc

    options = [
        ("grpc.max_receive_message_length", settings.max_request),
        ("grpc.max_send_message_length", -1),
        ("grpc.so_reuseport", 0),  # a port that is taken is an error, not a second server on it
    ]
    server = grpc.server(ThreadPoolExecutor(_WORKERS), handlers=handlers, options=options)
    _add_reflection_and_health(server)
    return server


def _add_reflection_and_health(server: grpc.Server) -> None:
    from grpc_health.v1 import health, health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha import reflection

    # Importing them registers the descriptions that reflection gives out.
    from crossply.functions.proto.v1 import run_function_pb2 as v1
    from crossply.functions.proto.v1beta1 import run_function_pb2 as v1beta1

    names = [
        module.DESCRIPTOR.services_by_name["FunctionRunnerService"].full_name for module in (v1, v1beta1)
    ]
    servicer = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    for name in ("", *names):
        servicer.set(name, health_pb2.HealthCheckResponse.SERVING)
    reflection.enable_server_reflection([*names, health.SERVICE_NAME, reflection.SERVICE_NAME], server)


def _listen(server: grpc.Server, settings: ServerSettings) -> int:
    target = _target(settings)
    try:
        if settings.certificates is None:
            return server.add_insecure_port(target)
        return server.add_secure_port(target, _credentials(settings.certificates))
    except RuntimeError:
        raise ServeError(
            f'cannot listen for {settings.network} connections at address "{settings.address}"',
            hint="is the address right, and nothing else listening there?",
        ) from None


def _target(settings: ServerSettings) -> str:
    if settings.network == "unix":
        return f"unix:{settings.address}"
    return f"[::]{settings.address}" if settings.address.startswith(":") else settings.address


def _credentials(directory: str) -> grpc.ServerCredentials:
    import grpc

    try:
        pair = (read_certificate(directory, "tls.key"), read_certificate(directory, "tls.crt"))
        authority = read_certificate(directory, "ca.crt")
    except FunctionError as problem:
        raise ServeError(str(problem), hint=problem.hint) from None
    return grpc.ssl_server_credentials([pair], authority, require_client_auth=True)
