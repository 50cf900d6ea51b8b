"""The command line of a function that is a program of its own: `python main.py --insecure`."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from crossply.errors import CrossplyError
from crossply.sdk.loading import Served
from crossply.sdk.serving import METRICS, Options
from crossply.sdk.serving import serve as serve_with


def serve(function: Served, words: Sequence[str] | None = None) -> None:
    """Serve a function as the words say, or the program's own; end the program where that cannot be done."""
    given = _parser(function).parse_args(words)
    try:
        if given.debug:
            function.log = _tell
        serve_with(function.name, function.answer, _options(given), _tell)
    except CrossplyError as problem:
        _tell(f"error: {problem}{f' ({problem.hint})' if problem.hint else ''}")
        sys.exit(1)


def _options(given: Namespace) -> Options:
    return Options(
        given.address,
        given.network,
        given.insecure,
        given.tls_certs_dir,
        given.max_recv_message_size,
        given.metrics_address,
        given.debug,
    )


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _parser(function: Served) -> ArgumentParser:
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
