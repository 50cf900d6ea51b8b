"""Flags for logs, metrics and traces of a control plane, and starting them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from crossply.cli.framework.command import Flag, Invocation

LOOPBACK = "127.0.0.1"
IN_A_CLUSTER = "in a cluster on all addresses, elsewhere on loopback"
INSPECTOR_SOCKET = "/var/run/pipeline-inspector/socket"
HERE_ONLY = "on loopback"

LOG_FORMAT = Flag(
    "log-format",
    "The format of log lines.",
    kind="string",
    default="logfmt",
    placeholder="logfmt",
    choices=("logfmt", "json"),
)
INSPECTOR_FLAGS = (
    Flag(
        "enable-pipeline-inspector",
        "Send every call of a function to the pipeline inspector at --pipeline-inspector-socket.",
        default=False,
    ),
    Flag(
        "pipeline-inspector-socket",
        "The Unix socket of a pipeline inspector, which receives every call of a function. "
        f"Defaults to {INSPECTOR_SOCKET} with --enable-pipeline-inspector, else to none.",
        kind="path",
        env="PIPELINE_INSPECTOR_SOCKET",
    ),
)


def inspector_socket(invocation: Invocation) -> str | None:
    """Where calls of functions are sent; None to send none."""
    default = INSPECTOR_SOCKET if invocation["enable-pipeline-inspector"] else None
    return invocation["pipeline-inspector-socket"] or default


def debug_flag(short: str = "") -> Flag:
    return Flag("debug", "Log every reconcile, not only warnings and errors.", short=short)


def metrics_port(default: int, setting: str) -> Flag:
    """The flag for the port of the metrics."""
    return Flag(
        "metrics-port",
        f"The port that serves /metrics for Prometheus: {setting}. 0 disables it.",
        kind="int",
        default=default,
        placeholder=str(default),
    )


def reachable_host() -> str | None:
    """Where others are to reach us: at every address (None) of a pod, elsewhere only from this machine."""
    return None if os.environ.get("KUBERNETES_SERVICE_HOST") else LOOPBACK


@asynccontextmanager
async def observed(invocation: Invocation, host: str | None) -> AsyncIterator[None]:
    """Log, serve metrics and send traces while a control plane runs."""
    import asyncio

    from crossply.record.logs import start_logging

    start_logging(invocation.stderr, invocation["log-format"], invocation["debug"])
    stop_tracing = _start_tracing()
    try:
        async with _metrics(host, invocation["metrics-port"]):
            yield
    finally:
        await asyncio.to_thread(stop_tracing)


@asynccontextmanager
async def _metrics(host: str | None, port: int) -> AsyncIterator[None]:
    """Composite resources matter more than figures about them: a port that is taken is no reason to stop."""
    from contextlib import AsyncExitStack

    from crossply.record.http_pages import metrics_served

    async with AsyncExitStack() as stack:
        if port:
            try:
                await stack.enter_async_context(metrics_served(host, port))
            except OSError as problem:
                _warn(f"metrics are not served on port {port}: {problem.strerror or problem}")
        yield


def _start_tracing() -> Callable[[], None]:
    from crossply.record.tracing import is_tracing_enabled, obstacle, start_tracing

    if not is_tracing_enabled(os.environ):
        return lambda: None
    reason = obstacle(os.environ)
    if reason:
        _warn(f"traces are not sent: {reason}")
        return lambda: None
    return start_tracing()


def _warn(sentence: str) -> None:
    import logging

    logging.getLogger("crossply.control").warning(sentence)
