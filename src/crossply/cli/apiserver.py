"""`crossply apiserver`: a Kubernetes API server on this machine, with nothing else installed."""

from __future__ import annotations

import os

from crossply.cli.spec import Command, Flag, Invocation, UsageError

DEFAULT_LISTEN = "127.0.0.1:6443"


def run(invocation: Invocation) -> int:
    """Serve until interrupted."""
    from crossply.apiserver.assembly import Settings

    host, port = _listen(invocation["listen"])
    settings = Settings(
        directory=invocation["data"],
        host=host,
        port=port,
        in_memory=invocation["in-memory"],
        names=tuple(invocation["names"] or ()),
        token_file=invocation["token-file"] or "",
    )
    import uvloop

    uvloop.run(_serve(invocation, settings))
    return 0


async def _serve(invocation: Invocation, settings: object) -> None:
    import asyncio
    import signal

    from crossply.apiserver.assembly import RunningServer, Settings

    assert isinstance(settings, Settings)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    server = RunningServer(settings)
    try:
        await server.start()
        invocation.stdout.write(f"ready: {server.url}\n")
        invocation.stdout.write(f"try:   kubectl --kubeconfig {server.kubeconfig} get namespaces\n")
        invocation.stdout.flush()
        await stopped.wait()
    finally:
        await server.stop()


def _listen(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise UsageError(f'--listen: expected HOST:PORT but got "{text}"')
    return host.strip("[]") or "0.0.0.0", int(port)


COMMAND = Command(
    name="apiserver",
    summary="Run a Kubernetes API server on this machine.",
    description=(
        "Serves the Kubernetes API from a SQLite database, over TLS with an authority of its own. Objects, "
        "certificates and the administrator's kubeconfig are kept in the data directory. It listens on "
        "loopback unless told otherwise, and stops cleanly on Ctrl-C."
    ),
    examples=(
        "crossply apiserver",
        "crossply apiserver --data ./state --listen 127.0.0.1:0",
        "crossply apiserver --in-memory --data ./state",
    ),
    run=run,
    flags=(
        Flag(
            "data",
            "The directory for everything that is kept.",
            kind="path",
            default=os.path.join(".", ".crossply"),
            placeholder="DIR",
        ),
        Flag(
            "listen",
            "The address to listen on; port 0 takes a free one.",
            kind="string",
            default=DEFAULT_LISTEN,
            placeholder=DEFAULT_LISTEN,
        ),
        Flag("in-memory", "Keep objects in memory only; they are gone when the server stops."),
        Flag(
            "names",
            "Further names and addresses for the server's certificate.",
            kind="strings",
            placeholder="NAME,...",
        ),
        Flag(
            "token-file",
            'A CSV file of further bearer tokens: token,user,uid,"group1,group2".',
            kind="existing-file",
            placeholder="PATH",
        ),
    ),
)
