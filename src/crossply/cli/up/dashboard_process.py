"""The dashboard of `crossply up`: a process that is started by the first connection, and stops with `up`.

`up` listens for it and prints its address. Until the first connection, it costs a socket. The key that signs
one-time tokens is in the data directory: `up --detach` reads it there to print a new address.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from crossply.cli.framework.command import Invocation
from crossply.cli.local_control_plane.data_directory import remove_saved, save
from crossply.cli.up.dashboard_flags import FILE, LOOPBACK, saved_dashboard

KEY_BYTES = 32
_RESTART_SECONDS = 2.0
_STOP_SECONDS = 5.0
_LOG = logging.getLogger("crossply.ui")


class DashboardProcess:
    """Listens at once, and starts the process at the first connection."""

    def __init__(self, data: str, port: int, flags: tuple[str, ...]) -> None:
        self._data = data
        self._flags = flags
        self._listener = _listen(port or saved_dashboard(data)[0])
        self._key = secrets.token_bytes(KEY_BYTES)
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        save(data, FILE, f"{self._listener.getsockname()[1]} {self._key.hex()}")

    def start(self) -> None:
        """Wait for the first connection."""
        self._task = asyncio.create_task(self._run(), name="dashboard")

    async def stop(self) -> None:
        """Have the process end, and forget the address."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        process = self._process
        if process is not None and process.returncode is None:
            process.terminate()
            with suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await process.wait()
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        self._listener.close()
        # The port is used again at the next start; the key is of no use any more.
        save(self._data, FILE, f"{saved_dashboard(self._data)[0]}")

    async def _run(self) -> None:
        while True:
            await self._connection()
            async with _metrics_socket() as path:
                await self._serve(path)
            await asyncio.sleep(_RESTART_SECONDS)

    async def _connection(self) -> None:
        """Wait for the first connection, which the process accepts."""
        loop, connected = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._listener, connected.set)
        try:
            await connected.wait()
        finally:
            loop.remove_reader(self._listener)

    async def _serve(self, metrics: str) -> None:
        descriptor = self._listener.fileno()
        words = ["--kubeconfig", os.path.join(self._data, "kubeconfig"), "--listen-fd", str(descriptor)]
        words += ["--metrics-socket", metrics]
        words += self._flags
        # -P: modules of the working directory do not stand in for ours. Standard input ends when we do.
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "crossply.cli", "ui", "--no-open", *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            pass_fds=(descriptor,),
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write(self._key.hex().encode() + b"\n")
        code = await process.wait()
        _LOG.warning("the dashboard ended with exit code %d; it is started again when it is opened", code)


def make_dashboard(invocation: Invocation) -> DashboardProcess | None:
    """The dashboard of this control plane, unless it is disabled or there is no port for it."""
    data = invocation["data"]
    if invocation["no-ui"]:
        remove_saved(data, FILE)
        return None
    try:
        return DashboardProcess(data, invocation["ui-port"], _flags(invocation))
    except OSError as problem:
        remove_saved(data, FILE)
        reason = problem.strerror or problem
        invocation.stderr.write(f"crossply: warning: there is no dashboard: cannot listen: {reason}\n")
        return None


def _flags(invocation: Invocation) -> tuple[str, ...]:
    flags = [
        f"--allow-local-functions={directory}" for directory in invocation["allow-local-functions"] or ()
    ]
    flags += ["--allow-local-commands"] if invocation["allow-local-commands"] else []
    flags += ["--allow-writes"] if invocation["ui-allow-writes"] else []
    return tuple(flags)


def _listen(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError:
        listener.bind((LOOPBACK, 0))
    listener.listen(128)
    listener.setblocking(False)
    return listener


@asynccontextmanager
async def _metrics_socket() -> AsyncIterator[str]:
    """Serve this process's metrics to the dashboard only, on a socket in a directory of its own."""
    from crossply.record.http_pages import metrics_on_socket

    directory = tempfile.mkdtemp(prefix="crossply-")
    path = os.path.join(directory, "metrics")
    try:
        async with metrics_on_socket(path):
            yield path
    finally:
        shutil.rmtree(directory, ignore_errors=True)
