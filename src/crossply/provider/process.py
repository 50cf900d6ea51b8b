"""The process of a provider: `python -P -m crossply.provider DIR`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

from aiohttp import web

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.stop_signals import stop_requested
from crossply.provider import managed_metrics
from crossply.provider.managed_kind import ManagedKind
from crossply.provider.package_files import CRDS, write_package_files
from crossply.provider.provider_controllers import ProviderServer
from crossply.provider.provider_directory import ProviderDirectory, load_provider
from crossply.record.http_pages import metrics_text, served
from crossply.record.logs import start_logging
from crossply.record.prometheus import CONTENT_TYPE

PORT = 8080
LOOPBACK = "127.0.0.1"
_log = logging.getLogger("crossply.provider")


_NOTIFY_SOCKET = "NOTIFY_SOCKET"
_STARTING, _READY = b"STATUS=starting", b"READY=1"
_POLL_SECONDS = 0.05


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the kinds of a provider's directory until SIGTERM; the exit status."""
    options = _parser().parse_args(arguments)
    start_logging(sys.stderr, options.log_format, options.debug)
    _notify(_STARTING)
    if options.kubeconfig:
        os.environ["KUBECONFIG"] = options.kubeconfig  # for the provider's own code, too
    try:
        provider = load_provider(options.directory)
        _refresh_crds(provider)
        _run(serve(provider.kinds, options.kubeconfig, options.port))
    except CrossplyError as problem:
        place = f" ({problem.place})" if problem.place else ""
        hint = f"\nhint: {problem.hint}" if problem.hint else ""
        sys.stderr.write(f"error: {problem}{place} [{problem.code}]{hint}\n")
        return 1
    return 0


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run with uvloop, where it is installed: it takes half of asyncio's time, and 14 MB of an image."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


def _refresh_crds(provider: ProviderDirectory) -> None:
    """Write the CRDs of a provider under development, so that a control plane that runs it installs them."""
    if os.path.isdir(os.path.join(provider.path, CRDS)):
        try:
            changed = write_package_files(provider)
        except (CrossplyError, OSError) as problem:
            _log.warning("the CRDs in %s are not current and cannot be written: %s", CRDS, problem)
        else:
            if changed:
                _log.info("wrote CRDs: %s", ", ".join(changed))


async def serve(kinds: Iterable[ManagedKind], kubeconfig: str | None = None, port: int = PORT) -> None:
    """Run a provider until SIGINT or SIGTERM; a second one ends the process at once."""
    stopped = stop_requested()
    async with Client(load_config(kubeconfig)) as client:
        server = ProviderServer(client, kinds)
        async with pages(server, port):
            server.start()
            announcing = asyncio.create_task(_notify_when(lambda: server.is_ready))
            try:
                await stopped.wait()
            finally:
                announcing.cancel()
                await server.stop()


@asynccontextmanager
async def pages(server: ProviderServer, port: int) -> AsyncIterator[None]:
    """Serve /healthz, /readyz and /metrics. Where the port is taken, the provider works without them."""
    # In a pod, which has no kubeconfig, the kubelet and Prometheus come from elsewhere.
    is_pod = os.environ.get("KUBERNETES_SERVICE_HOST") and not os.environ.get("KUBECONFIG")
    host = None if is_pod else LOOPBACK

    def readyz() -> web.Response:
        waits = server.start_progress()
        return web.Response(status=503, text=waits) if waits else web.Response(text="ok")

    async with AsyncExitStack() as stack:
        if port:
            paths = {"/healthz": _healthz, "/readyz": readyz, "/metrics": _metrics}
            try:
                await stack.enter_async_context(served(host, port, paths))
            except OSError as problem:
                _log.warning("no /healthz, /readyz and /metrics: port %d: %s", port, problem.strerror)
        yield


def _healthz() -> web.Response:
    return web.Response(text="ok")


def _metrics() -> web.Response:
    text = metrics_text() + "".join(family.text() for family in managed_metrics.ALL)
    return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -P -m crossply.provider",
        description="Serve the managed resources that the Python packages of a directory declare.",
    )
    parser.add_argument("directory", help="the provider's directory, which has crossplane.yaml")
    parser.add_argument(
        "--kubeconfig", help="a kubeconfig (default: $KUBECONFIG, the pod's service account, ~/.kube/config)"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=PORT,
        help=f"the port of /healthz, /readyz and /metrics; 0 serves none (default {PORT})",
    )
    parser.add_argument("--log-format", choices=("logfmt", "json"), default="logfmt")
    parser.add_argument("--debug", action="store_true", help="log every reconcile")
    return parser


def _notify(state: bytes) -> None:
    """Send a state by the protocol of systemd, if the environment names a socket."""
    address = os.environ.get(_NOTIFY_SOCKET, "")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.connect("\0" + address[1:] if address.startswith("@") else address)
        sender.send(state)


async def _notify_when(is_ready: Callable[[], bool]) -> None:

    while not is_ready():
        await asyncio.sleep(_POLL_SECONDS)
    _notify(_READY)
