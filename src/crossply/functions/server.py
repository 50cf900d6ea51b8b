"""Serves a function over gRPC to any engine with the function protocol.

gRPC only carries bytes, for v1 and v1beta1 alike, whose messages are the same. A built-in function is served
by `FunctionServer`, which lets `compose.wire_codec` read and write them; functions of the SDK do that
themselves. Reflection and health are served beside, as every function's server does, and metrics if they are
enabled.

Certificates are read again for every connection: a mounted Secret changes when its certificate is renewed.
New connections get the new certificate and are verified with the new authorities; open connections continue.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from crossply.compose.function_messages import Function
from crossply.compose.wire_codec import decode_request, encode_response
from crossply.errors import CrossplyError
from crossply.functions.channels import newest_state, read_certificate
from crossply.functions.failures import FunctionError, ServeError
from crossply.functions.remote import BETA_METHOD, METHOD, silence_grpc
from crossply.functions.server_thread_pool import WorkerThreads
from crossply.functions.standard_services import HEALTH_SERVICE, health_handler, reflection_handlers
from crossply.functions.time_limit import TimeLimit, TimeLimitReached

if TYPE_CHECKING:
    import grpc

CALL_LIMIT = 120.0
"""Seconds that one call may take, as long as the engine's own deadline for a whole run."""

GRACE = 5.0
"""Seconds that running calls get to finish when the server is stopped."""

_WORKERS = 32

Handler = Callable[[bytes, "grpc.ServicerContext"], bytes]
"""Answers one call. It may raise `Refused`."""
_CERTIFICATE_FILES = ("tls.key", "tls.crt", "ca.crt")


class Refused(Exception):
    """Raised by a handler to end a call with this gRPC status."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(details)
        self.status = code


class ServerSettings(NamedTuple):
    """Where and how a function is served."""

    address: str
    """`host:port`, `:port` for every interface, or the path of a unix socket."""
    network: str = "tcp"
    certificates: str | None = None
    """A directory with tls.crt, tls.key and the ca.crt that clients are verified by; plaintext without."""
    credentials: grpc.ServerCredentials | None = None
    """Existing credentials, instead of the directory."""
    max_request: int = 4 << 20
    call_limit: float = CALL_LIMIT
    log: Callable[[str], None] | None = None
    """Called with a line for every call."""
    meter: Meter | None = None
    """Counts the calls."""
    options: tuple[tuple[str, Any], ...] = ()
    """Further options for gRPC, which win over ours."""


class Meter(Protocol):
    """Counts calls."""

    def begin(self) -> None:
        """A call begins."""

    def end(self, code: str, seconds: float) -> None:
        """A call ended, as gRPC says how, after so many seconds."""


class Server:
    """A handler of calls, served until it is stopped."""

    def __init__(self, name: str, handler: Handler, settings: ServerSettings) -> None:
        self._limit = TimeLimit()
        self._threads = WorkerThreads(_WORKERS)
        handlers = _Service(name, handler, settings, self._limit).handlers()
        self._server = _create(handlers, self._threads, settings)
        self.port = _listen(self._server, settings)
        self._server.start()

    def stop(self) -> None:
        """Refuse new calls, let the running ones finish or end them after a while, and close."""
        self._server.stop(GRACE).wait()
        self._limit.close()
        self._threads.shutdown()


class FunctionServer(Server):
    """A function of plain messages, served until it is stopped."""

    def __init__(self, name: str, function: Function, settings: ServerSettings) -> None:
        super().__init__(name, lambda data, _: encode_response(function(decode_request(data))), settings)


class _Service:
    """Answers the calls of one function."""

    def __init__(self, name: str, handler: Handler, settings: ServerSettings, limit: TimeLimit) -> None:
        self._name = name
        self._handler = handler
        self._settings = settings
        self._limit = limit

    def handlers(self) -> list[Any]:
        """The gRPC handlers of both versions of the protocol."""
        import grpc

        call = grpc.unary_unary_rpc_method_handler(self._answer)
        paths = [method.split("/") for method in (METHOD, BETA_METHOD)]
        return [grpc.method_handlers_generic_handler(service, {name: call}) for _, service, name in paths]

    def _answer(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        start = time.perf_counter()
        meter = self._settings.meter
        if meter is not None:
            meter.begin()
        outcome = self._outcome(data, context)
        seconds = time.perf_counter() - start
        if meter is not None:
            meter.end(outcome.status.name if isinstance(outcome, Refused) else "OK", seconds)
        self._log_call(data, outcome, seconds)
        if isinstance(outcome, Refused):
            context.abort(outcome.status, str(outcome))
        return outcome

    def _outcome(self, data: bytes, context: grpc.ServicerContext) -> bytes | Refused:
        import grpc

        allowed = min(context.time_remaining() or self._settings.call_limit, self._settings.call_limit)
        try:
            return self._limit.run(allowed, lambda: self._handler(data, context))
        except TimeLimitReached:
            late = f"function {self._name}: still running after {allowed:.0f} s"
            return Refused(grpc.StatusCode.DEADLINE_EXCEEDED, late)
        except Refused as refusal:
            return refusal
        except CrossplyError as problem:
            return Refused(grpc.StatusCode.INTERNAL, f"function {self._name}: {problem}")
        except Exception as problem:  # noqa: BLE001 - whatever a function raises, the server lives on
            message = f"function {self._name}: {type(problem).__name__}: {problem}"
            return Refused(grpc.StatusCode.INTERNAL, message)

    def _log_call(self, data: bytes, outcome: bytes | Refused, seconds: float) -> None:
        if self._settings.log is None:
            return
        if isinstance(outcome, Refused):
            self._settings.log(f"{self._name}: {outcome.status.name}: {outcome}")
        else:
            sizes = f"{len(data)} bytes in, {len(outcome)} bytes out"
            self._settings.log(f"{self._name}: {sizes}, {seconds * 1000:.1f} ms")


def _create(handlers: list[Any], threads: WorkerThreads, settings: ServerSettings) -> grpc.Server:
    silence_grpc()
    import grpc

    options = {
        "grpc.max_receive_message_length": settings.max_request,
        "grpc.max_send_message_length": -1,
        "grpc.so_reuseport": 0,  # a port that is taken is an error, not a second server on it
        **dict(settings.options),
    }
    # gRPC asks for nothing but `submit`, whatever its types say.
    return grpc.server(
        cast("Any", threads), handlers=[*handlers, *_standard_services()], options=tuple(options.items())
    )


def _standard_services() -> list[Any]:
    """What clients and probes expect beside a function: health and reflection."""
    names = [METHOD.split("/")[1], BETA_METHOD.split("/")[1]]
    return [health_handler(names), *reflection_handlers([*names, HEALTH_SERVICE])]


def _listen(server: grpc.Server, settings: ServerSettings) -> int:
    target = _target(settings)
    try:
        if settings.credentials is not None:
            return server.add_secure_port(target, settings.credentials)
        if settings.certificates is None:
            return server.add_insecure_port(target)
        return server.add_secure_port(target, server_credentials(settings.certificates))
    except RuntimeError:
        raise ServeError(
            f'cannot listen for {settings.network} connections at address "{settings.address}"',
            hint="is the address right, and nothing else listening there?",
        ) from None


def _target(settings: ServerSettings) -> str:
    if settings.network == "unix":
        return f"unix:{settings.address}"
    return f"[::]{settings.address}" if settings.address.startswith(":") else settings.address


if TYPE_CHECKING:
    from crossply.functions.server import Server


def serve_until_signal(start: Callable[[], Server]) -> None:
    """Start a server, wait until a signal ends it, and let the running calls finish."""
    signals = _block_signals()
    server = start()
    signal.sigwait(signals)
    server.stop()


def _block_signals() -> set[signal.Signals]:
    """Keep the signals that end the server until they are waited for, in this thread and those it starts.

    A handler would run in the main thread only, which a signal that another thread takes does not wake.
    """
    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    return signals


def server_credentials(directory: str) -> grpc.ServerCredentials:
    """Credentials of a directory of certificates, which ask for certificates of clients, too."""
    import grpc

    try:
        shown = _read_certificates(directory)
    except FunctionError as problem:
        raise ServeError(str(problem), hint=problem.hint) from None
    current = [shown]

    def reload_certificates() -> grpc.ServerCertificateConfiguration | None:
        try:
            certificates = _read_certificates(directory)
        except FunctionError:
            # They are being replaced, or lost: what was shown until now is still good.
            return None
        if certificates == current[0]:
            return None
        current[0] = certificates
        return _certificate_configuration(certificates)

    # The library takes None for "as before", which its annotations do not know.
    fetcher: Any = reload_certificates
    return grpc.dynamic_ssl_server_credentials(_certificate_configuration(shown), fetcher, True)


def _read_certificates(directory: str) -> tuple[bytes, ...]:
    directory = newest_state(directory)
    return tuple(read_certificate(directory, name) for name in _CERTIFICATE_FILES)


def _certificate_configuration(files: tuple[bytes, ...]) -> grpc.ServerCertificateConfiguration:
    import grpc

    key, certificate, authority = files
    return grpc.ssl_server_certificate_configuration([(key, certificate)], authority)
