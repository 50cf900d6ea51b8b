"""`crossply apiserver`: run a Kubernetes API server on this machine."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from crossply.cli.apiserver.encryption_flags import ENCRYPTION_FLAGS, codec_of, report_rewritten
from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.flag_values import parse_address
from crossply.cli.local_control_plane.data_directory import data_flag, open_data_directory
from crossply.errors import CrossplyError

if TYPE_CHECKING:
    from asyncio import Event

    from crossply.apiserver.assembly import Settings

READY, FAILED = "ready:", "failed:"
"""The first word on standard output: the URL follows, or the reason, in JSON, for who started us."""
_ORPHAN_SECONDS = 30.0
"""How long a server may take to stop whose parent is gone; requests under way have 25."""
DEFAULT_LISTEN = "127.0.0.1:6443"
_LEVELS = {"metadata": "METADATA", "request": "REQUEST", "request-response": "REQUEST_RESPONSE"}


def run(invocation: Invocation) -> int:
    """Serve until interrupted."""
    from dataclasses import replace

    from crossply.apiserver.assembly import Settings
    from crossply.apiserver.audit import Level
    from crossply.apiserver.http.limits import Limits

    host, port = parse_address(invocation["listen"])
    if not _is_loopback(host):
        invocation.stderr.write(
            f"crossply: warning: listening on {host}: every host that reaches this machine reaches the API\n"
        )
    open_data_directory(invocation)
    settings = Settings(
        directory=invocation["data"],
        host=host,
        port=port,
        in_memory=invocation["in-memory"],
        names=tuple(invocation["names"] or ()),
        token_file=invocation["token-file"] or "",
        audit_log=invocation["audit-log"] or "",
        audit_level=Level[_LEVELS[invocation["audit-level"]]],
        collect_garbage=not invocation["no-garbage-collection"],
        limits=replace(
            Limits(), requests=invocation["max-requests-inflight"], connections=invocation["max-connections"]
        ),
    )
    import uvloop

    try:
        uvloop.run(_serve(invocation, replace(settings, codec=codec_of(invocation))))
    except CrossplyError as problem:
        if not invocation["stop-with-parent"]:
            raise
        # Who started us reports it.
        reason = {"message": " ".join(str(problem).split()), "hint": problem.hint, "code": problem.code}
        invocation.stdout.write(f"{FAILED} {json.dumps(reason)}\n")
        return 1
    return 0


async def _serve(invocation: Invocation, settings: Settings) -> None:
    import asyncio
    import signal

    from crossply.apiserver.assembly import RunningServer
    from crossply.values.cycle_collector import collect_seldom

    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    if invocation["stop-with-parent"]:
        stop_with_parent(stopped)
    server = RunningServer(settings)
    try:
        await server.start()
        collect_seldom()
        assert server.store is not None
        report_rewritten(invocation, server.store.rewritten)
        invocation.stdout.write(f"{READY} {server.url}\n")
        invocation.stdout.write(f"try:   kubectl --kubeconfig {server.kubeconfig} get namespaces\n")
        invocation.stdout.flush()
        await stopped.wait()
    finally:
        # A second signal stops the server without waiting.
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        await server.stop()


def stop_with_parent(stopped: Event) -> None:
    """Stop when standard input ends: only the process that started us has its other end.

    A thread waits for that, so that a server that hangs ends, too.
    """
    import asyncio
    import sys
    import threading
    import time

    loop, parent = asyncio.get_running_loop(), sys.stdin.fileno()

    def wait() -> None:
        while os.read(parent, 4096):
            pass
        loop.call_soon_threadsafe(stopped.set)
        time.sleep(_ORPHAN_SECONDS)
        os._exit(1)

    threading.Thread(target=wait, name="parent", daemon=True).start()


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host == "::1" or host.startswith("127.")


COMMAND = Command(
    name="apiserver",
    summary="Run a Kubernetes API server on this machine.",
    description=(
        "Serves the Kubernetes API from a SQLite database, over TLS with an authority of its own. Objects, "
        "certificates and the administrator's kubeconfig are kept in the data directory. It listens on "
        "loopback by default, and stops cleanly on Ctrl-C or SIGTERM: requests under way are "
        "finished, watches are ended."
    ),
    examples=(
        "crossply apiserver",
        "crossply apiserver --data ./state --listen 127.0.0.1:0",
        "crossply apiserver --in-memory --data ./state",
    ),
    run=run,
    flags=(
        data_flag("The data directory: objects, certificates and the kubeconfig."),
        Flag(
            "listen",
            "The address to listen on, as HOST:PORT. Port 0 selects a free port.",
            kind="string",
            default=DEFAULT_LISTEN,
            placeholder=DEFAULT_LISTEN,
        ),
        Flag("in-memory", "Store objects in memory only. They are lost when the server stops."),
        Flag("stop-with-parent", "Stop when standard input ends.", hidden=True),
        Flag(
            "no-garbage-collection",
            "Do not collect objects whose owners were deleted, as an API server without "
            "kube-controller-manager.",
        ),
        Flag(
            "names",
            "Additional names and addresses for the server's certificate. Repeatable.",
            kind="strings",
            placeholder="NAME,...",
        ),
        Flag(
            "token-file",
            'A CSV file of additional bearer tokens: token,user,uid,"group1,group2".',
            kind="existing-file",
            placeholder="PATH",
        ),
        Flag(
            "audit-log",
            "Write an audit event for each request to this file, without the contents of "
            "Secrets. It is rotated by size.",
            kind="path",
            placeholder="PATH",
        ),
        Flag(
            "audit-level",
            "The level of detail of audit events: metadata, request (with its body) or request-response.",
            kind="string",
            default="metadata",
            choices=tuple(_LEVELS),
        ),
        Flag(
            "max-requests-inflight",
            "The maximum number of requests in flight. Further requests get 429 Too Many "
            "Requests. Watches do not count.",
            kind="int",
            default="600",
        ),
        Flag(
            "max-connections",
            "The maximum number of open connections. Fewer if the system's limit of open files is lower.",
            kind="int",
            default="10000",
        ),
        *ENCRYPTION_FLAGS,
    ),
)
