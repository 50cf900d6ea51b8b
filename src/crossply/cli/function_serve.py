"""`crossply function serve`: a built-in function as a gRPC server, for any engine of the protocol."""

from __future__ import annotations

import signal
from collections.abc import Callable

from crossply.cli.spec import Argument, Command, Flag, Invocation
from crossply.functions import builtin
from crossply.functions.failures import ServeError

NETWORKS = ("tcp", "unix")


def run(invocation: Invocation) -> int:
    """Serve until SIGTERM or SIGINT, then finish the running calls."""
    name = builtin.find(invocation["name"])
    if name is None:
        raise ServeError(
            f'unknown function "{invocation["name"]}"', hint=f"built in are {', '.join(builtin.PUBLISHED)}"
        )
    certificates = None if invocation["insecure"] else invocation["tls-certs-dir"]
    if not certificates and not invocation["insecure"]:
        raise ServeError(
            "no credentials provided - did you specify the Insecure or MTLSCertificates options?",
            hint="give --tls-certs-dir DIR, or --insecure to serve without encryption",
        )
    _serve(name, certificates, invocation)
    return 0


def _serve(name: str, certificates: str | None, invocation: Invocation) -> None:
    # Imported here: gRPC takes longer to load than most commands take to run.
    from crossply.functions.server import FunctionServer, ServerSettings

    settings = ServerSettings(
        address=invocation["address"],
        network=invocation["network"],
        certificates=certificates,
        max_request=_mebibytes(invocation["max-recv-message-size"]),
        log=_log(invocation) if invocation["debug"] else None,
    )
    signals = _hold_back_signals()
    server = FunctionServer(name, builtin.load(name), settings)
    _log(invocation)(f"serving {name} at {settings.address}")
    signal.sigwait(signals)
    server.stop()


def _mebibytes(number: int) -> int:
    if number < 1:
        raise ServeError(f"--max-recv-message-size must be at least 1, not {number}")
    return number << 20


def _log(invocation: Invocation) -> Callable[[str], None]:
    def log(line: str) -> None:
        invocation.stderr.write(f"crossply: {line}\n")
        invocation.stderr.flush()

    return log


def _hold_back_signals() -> set[signal.Signals]:
    """Keep the signals that end the server until they are waited for, in this thread and those it starts.

    A handler would run in the main thread only, which a signal that another thread takes does not wake.
    """
    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    return signals


COMMAND = Command(
    "serve",
    "Serve a built-in composition function over gRPC.",
    run,
    arguments=(Argument("name", f"The function: {', '.join(builtin.PUBLISHED)}."),),
    flags=(
        Flag("debug", "Write a line for every call.", short="d"),
        Flag("insecure", "Serve without encryption. Wins over --tls-certs-dir."),
        Flag(
            "tls-certs-dir",
            "Directory with the server's tls.crt and tls.key, and the ca.crt that clients are verified by.",
            kind="path",
            env="TLS_SERVER_CERTS_DIR",
        ),
        Flag("address", "Address to listen at; a path with --network unix.", kind="string", default=":9443"),
        Flag("network", "Network to listen on.", kind="string", default="tcp", choices=NETWORKS),
        Flag("max-recv-message-size", "Largest request in MiB.", kind="int", default=4),
    ),
    description="The server answers v1 and v1beta1 of the function protocol, reflection and health checks.",
    examples=(
        "crossply function serve patch-and-transform --insecure --address localhost:9443",
        "crossply function serve auto-ready --tls-certs-dir /tls/server",
        "crossply function serve auto-ready --insecure --network unix --address /run/auto-ready.sock",
    ),
)
