"""Serving a function over gRPC, with the flags that every function's server has."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import NamedTuple

from crossply.functions.failures import ServeError
from crossply.functions.server import Handler, Server, ServerSettings
from crossply.functions.server_metrics import CallMeter, serve_metrics
from crossply.functions.serving import serve_until_signal

METRICS = ":8080"
"""Where metrics are served when the function is served with TLS, as in a cluster."""


class Options(NamedTuple):
    """How a function is served."""

    address: str = ":9443"
    network: str = "tcp"
    insecure: bool = False
    certificates: str | None = None
    max_request: int = 4
    """In MiB."""
    metrics: str | None = None
    """An address, "" for none, or nothing for the usual."""
    debug: bool = False


def serve(name: str, handler: Handler, options: Options, tell: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then let the running calls finish."""
    with suppress(ImportError):
        import_module("orjson")  # makes what is written again quick, see `sdk.remembered`
    settings, meter = _settings(options, tell), CallMeter()

    def start() -> Server:
        _serve_metrics(meter, options, tell)
        server = Server(name, handler, settings._replace(meter=meter))
        tell(f"serving {name} at {options.address}")
        return server

    serve_until_signal(start)


def _settings(options: Options, tell: Callable[[str], None]) -> ServerSettings:
    certificates = None if options.insecure else options.certificates
    if not certificates and not options.insecure:
        raise ServeError(
            "no credentials provided - did you specify the Insecure or MTLSCertificates options?",
            hint="give --tls-certs-dir DIR, or --insecure to serve without encryption",
        )
    if options.max_request < 1:
        raise ServeError(f"--max-recv-message-size must be at least 1, not {options.max_request}")
    return ServerSettings(
        options.address,
        options.network,
        certificates,
        max_request=options.max_request << 20,
        log=tell if options.debug else None,
    )


def _serve_metrics(meter: CallMeter, options: Options, tell: Callable[[str], None]) -> None:
    """Serve metrics where they are wanted; calls are served also where the usual address is taken."""
    if options.metrics:
        serve_metrics(meter, options.metrics)
    elif options.metrics is None and not options.insecure:
        try:
            serve_metrics(meter, METRICS)
        except ServeError as problem:
            tell(str(problem))
