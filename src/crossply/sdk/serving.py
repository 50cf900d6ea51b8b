"""Serving a function over gRPC, with the flags that every function server has."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from crossply.errors import CrossplyError
from crossply.functions.failures import ServeError
from crossply.functions.server import Handler, Server, ServerSettings, serve_until_signal
from crossply.functions.server_metrics import CallMeter, serve_metrics

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from crossply.sdk.function_file import Served

METRICS = ":8080"
"""The default address of metrics when the function is served with TLS, as in a cluster."""


class Options(NamedTuple):
    """How a function is served."""

    address: str = ":9443"
    network: str = "tcp"
    insecure: bool = False
    certificates: str | None = None
    max_request: int = 4
    """In MiB."""
    metrics: str | None = None
    """An address, "" for none, None for the default."""
    debug: bool = False


def serve(name: str, handler: Handler, options: Options, log_line: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then finish running calls."""
    if find_spec("grpc") is None:
        raise ServeError("grpcio is not installed", hint="pip install 'crossply-sdk[function]'")
    with suppress(ImportError):
        import_module("orjson")  # enables the cache of encoded objects, see `struct_cache`
    settings, meter = _settings(options, log_line), CallMeter()

    def start() -> Server:
        _serve_metrics(meter, options, log_line)
        server = Server(name, handler, settings._replace(meter=meter))
        log_line(f"serving {name} at {_bound_address(options, server.port)}")
        return server

    serve_until_signal(start)


def _bound_address(options: Options, port: int) -> str:
    """The address, with the port that the system chose where it ends with port 0."""
    if options.network == "unix" or not options.address.endswith(":0"):
        return options.address
    return f"{options.address[:-1]}{port}"


def _settings(options: Options, log_line: Callable[[str], None]) -> ServerSettings:
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
        log=log_line if options.debug else None,
    )


def _serve_metrics(meter: CallMeter, options: Options, log_line: Callable[[str], None]) -> None:
    """Serve metrics if requested. A default address that is in use does not stop the server."""
    if options.metrics:
        serve_metrics(meter, options.metrics)
    elif options.metrics is None and not options.insecure:
        try:
            serve_metrics(meter, METRICS)
        except ServeError as problem:
            log_line(str(problem))


def serve_from_command_line(function: Served, words: Sequence[str] | None = None) -> None:
    """Serve a function with the given flags, or those of the program; exit on errors."""
    args = _parser(function).parse_args(words)
    try:
        if args.debug:
            function.log = write_log_line
        serve(function.name, function.answer, _options(args), write_log_line)
    except CrossplyError as problem:
        write_log_line(f"error: {problem}{f' ({problem.hint})' if problem.hint else ''}")
        sys.exit(1)


def _options(args: Namespace) -> Options:
    return Options(
        args.address,
        args.network,
        args.insecure,
        args.tls_certs_dir,
        args.max_recv_message_size,
        args.metrics_address,
        args.debug,
    )


def write_log_line(line: str) -> None:
    """Write a line to stderr at once, also where that is a pipe."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _parser(function: Served) -> ArgumentParser:
    from argparse import ArgumentParser

    parser = ArgumentParser(description=f"Serve the composition function {function.name} over gRPC.")
    parser.add_argument("-d", "--debug", action="store_true", help="log every call, and exceptions whole")
    parser.add_argument("--insecure", action="store_true", help="serve without encryption")
    parser.add_argument(
        "--tls-certs-dir",
        "--tls-server-certs-dir",
        default=os.environ.get("TLS_SERVER_CERTS_DIR"),
        help="directory with tls.crt, tls.key and ca.crt [$TLS_SERVER_CERTS_DIR]",
    )
    parser.add_argument("--address", default=":9443", help="where to listen (default %(default)s)")
    parser.add_argument("--network", default="tcp", choices=("tcp", "unix"))
    parser.add_argument(
        "--max-recv-message-size",
        "--max-grpc-message-size",
        type=int,
        default=4,
        help="largest request in MiB (default %(default)s)",
    )
    parser.add_argument(
        "--metrics-address",
        help=f"where to serve metrics for Prometheus; {METRICS} unless --insecure is given",
    )
    return parser
