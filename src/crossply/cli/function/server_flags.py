"""The flags of commands that serve a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Flag, Invocation

if TYPE_CHECKING:
    from crossply.sdk.serving import Options

SERVING = (
    Flag("debug", "Write a line for every call.", short="d"),
    Flag("insecure", "Serve without encryption. Wins over --tls-certs-dir."),
    Flag(
        "tls-certs-dir",
        "Directory with the server's tls.crt and tls.key, and the ca.crt that clients are verified by.",
        kind="path",
        env="TLS_SERVER_CERTS_DIR",
        aliases=("tls-server-certs-dir",),
    ),
    Flag("address", "Address to listen at; a path with --network unix.", kind="string", default=":9443"),
    Flag("network", "Network to listen on.", kind="string", default="tcp", choices=("tcp", "unix")),
    Flag(
        "max-recv-message-size",
        "Largest request in MiB.",
        kind="int",
        default=4,
        aliases=("max-grpc-message-size",),
    ),
    Flag(
        "metrics-address",
        "Address to serve metrics for Prometheus at. The default is :8080, and none with --insecure.",
        kind="string",
        placeholder="ADDRESS",
    ),
)

SDK = Flag(
    "sdk",
    "Which SDK a file that imports crossplane.function gets: published, crossply, or auto for "
    "the published one if it is installed.",
    kind="string",
    default="auto",
    choices=("auto", "crossply", "published"),
)


def serving_options(invocation: Invocation) -> Options:
    """What the flags say."""
    from crossply.sdk.serving import Options

    return Options(
        invocation["address"],
        invocation["network"],
        bool(invocation["insecure"]),
        invocation["tls-certs-dir"],
        invocation["max-recv-message-size"],
        invocation["metrics-address"],
        bool(invocation["debug"]),
    )


def line_logger(invocation: Invocation) -> Callable[[str], None]:
    """Says lines on stderr at once, also where that is a pipe."""

    def log(line: str) -> None:
        invocation.stderr.write(f"crossply: {line}\n")
        invocation.stderr.flush()

    return log
