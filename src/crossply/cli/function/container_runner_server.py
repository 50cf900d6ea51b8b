"""`crossply function runner`: serve container functions over a socket."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.functions.failures import ServeError
from crossply.kinds.composition_container_function import ABSTRACT_PREFIXES

if TYPE_CHECKING:
    from threading import Event

UNIX, TCP = "unix", "tcp"
_DEFAULT_ADDRESS = "@crossplane/fn/default.sock"
_LOOPBACK = ("127.", "localhost:", "[::1]:")
_PRIVATE = 0o177
_POLL_SECONDS = 0.5


def run(invocation: Invocation) -> int:
    """Serve until SIGTERM or SIGINT, then finish running calls."""
    from crossply.containers.image_store import Store
    from crossply.containers.settings import Settings, store_directory
    from crossply.functions.containerized_function_runner_server import RunnerServer, RunnerSettings
    from crossply.functions.one_shot_image_run import ImageRuns

    settings = RunnerSettings(
        target=_target(invocation["network"], invocation["address"]),
        at_once=_positive(invocation, "max-running"),
        longest=invocation["max-timeout"],
        largest=_positive(invocation, "max-recv-message-size") << 20,
        shares_network=not invocation["isolated-only"],
        log=lambda line: _log_event(invocation, line),
    )
    store = Store(invocation["store"] or store_directory(invocation.environ))
    stopping = _stop_requested()
    before = os.umask(_PRIVATE)  # a socket that is a file is for this user only
    server = RunnerServer(ImageRuns(store, Settings(largest_output=settings.largest)), settings)
    os.umask(before)
    settings.log(f"running images for others at {settings.target}")
    # An endless wait would not be interrupted by a signal that another thread takes. Holding signals back
    # instead, as a server can, would hold them back in all containers, too.
    while not stopping.wait(_POLL_SECONDS):
        pass
    server.stop()
    return 0


def _log_event(invocation: Invocation, line: str) -> None:
    invocation.stderr.write(f"crossply: {line}\n")
    invocation.stderr.flush()


def _stop_requested() -> Event:
    import threading

    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    return stopping


def _target(network: str, address: str) -> str:
    if network == UNIX:
        return socket_target(address)
    if not address.startswith(_LOOPBACK):
        raise ServeError(
            f"cannot listen at {address}: every client that connects could run images",
            hint="a runner without encryption listens on this machine only: 127.0.0.1:PORT, or a unix socket",
        )
    return address


def socket_target(address: str) -> str:
    """The gRPC target of a socket address; the endpoint in a Composition is one, too."""
    for prefix in (*ABSTRACT_PREFIXES, "unix-abstract:", "@"):
        if address.startswith(prefix):
            return f"unix-abstract:{address[len(prefix) :]}"
    path = address.removeprefix("unix:").removeprefix("//") if address.startswith("unix:") else address
    return f"unix:{os.path.abspath(path)}"


def _positive(invocation: Invocation, flag: str) -> int:
    number: int = invocation[flag]
    if number < 1:
        raise ServeError(f"--{flag} must be at least 1, not {number}")
    return number


COMMAND = Command(
    "runner",
    "Serve container functions: run their images on request.",
    run,
    flags=(
        Flag(
            "address",
            "The address to listen on: the path of a Unix socket, @NAME for an abstract socket "
            "(both with or without unix:), or HOST:PORT.",
            kind="string",
            default=_DEFAULT_ADDRESS,
        ),
        Flag("network", "Network to listen on.", kind="string", default=UNIX, choices=(UNIX, TCP)),
        Flag("isolated-only", "Refuse functions that request the network of the runner."),
        Flag(
            "max-recv-message-size",
            "The maximum size of a request and of an output, in MiB.",
            kind="int",
            default=16,
        ),
        Flag(
            "max-running",
            "The maximum number of containers that run at the same time.",
            kind="int",
            default=8,
        ),
        Flag("max-timeout", "The maximum run time of a container.", kind="duration", default="2m"),
        Flag(
            "store",
            "The directory for unpacked images.",
            kind="path",
            placeholder="DIR",
            env="CROSSPLY_CONTAINER_STORE",
        ),
    ),
    description=(
        "A container function is an image that reads a FunctionIO on standard input and writes one on\n"
        "standard output. A Composition names it in spec.functions, and this runner in its runner.endpoint.\n"
        "Containers are started by crun or runc without privileges.\n\n"
        "A socket that is a file is open to this user only. One that is no file (@NAME) is open to all on\n"
        "this machine. Images are pulled with the logins that a request brings, never with yours."
    ),
    examples=(
        "crossply function runner",
        "crossply function runner --address /run/user/1000/runner.sock --isolated-only",
    ),
)
