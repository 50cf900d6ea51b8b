"""The API server process of `crossply up`: it is restarted if it ends, and stops with this process.

It listens on the port that it had last time, so that copies of its kubeconfig stay good.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from crossply.cli.apiserver.serve import FAILED, READY
from crossply.cli.framework.command import Invocation
from crossply.cli.local_control_plane.data_directory import keep_port, saved_port
from crossply.cli.local_control_plane.failures import PortInUse, StartFailed
from crossply.values.backoff import pause_after

_LOOPBACK = "127.0.0.1"
_LOG = logging.getLogger("crossply.control")
_FIRST_DELAY, _LONGEST_DELAY = 0.2, 10.0
_STEADY_SECONDS = 60.0
"""A server that ran so long is not one that cannot run."""
_MOST_FAILURES = 10
"""In a row; then there is no use in starting it once more."""
_STOP_SECONDS = 35.0
"""Requests under way have 25 seconds."""


class ApiSettings(NamedTuple):
    """How the API server is run."""

    data: str
    in_memory: bool
    lock: int
    """The descriptor of the data directory's lock, which it holds with us."""
    flags: tuple[str, ...] = ()
    """Further words of its command line."""
    environment: Mapping[str, str] = {}
    """Further variables, which are not in our own environment."""


class ApiProcess:
    """The process, and the one after it."""

    def __init__(self, settings: ApiSettings, address: str) -> None:
        self._settings = settings
        self.address = address
        """Where it listens from its first start on."""
        self._process: asyncio.subprocess.Process | None = None
        self._since = 0.0
        self._answers = False
        self.port = 0

    async def start(self) -> None:
        """Start it, and wait until it answers; raises StartFailed."""
        settings = self._settings
        host, _, port = self.address.rpartition(":")
        words = ["--data", settings.data, "--listen", f"{host}:{self.port or port}", "--stop-with-parent"]
        words += settings.flags
        if settings.in_memory:
            words.append("--in-memory")
        self._since, self._answers = time.monotonic(), False
        # -P: modules of the working directory do not stand in for ours. Standard input ends when we do.
        # Ctrl-C reaches the whole group; the server has a session of its own and is stopped last.
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "crossply.cli", "apiserver", *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=(settings.lock,),
            env={**os.environ, **settings.environment},
            start_new_session=True,
        )
        assert process.stdout is not None
        word, _, rest = (await process.stdout.readline()).decode().strip().partition(" ")
        if word != READY:
            code = await process.wait()
            if word == FAILED:
                raise _start_failed(json.loads(rest))
            raise StartFailed(f"the API server did not start ({_exit_description(code)})")
        self._answers = True
        self.port = urlsplit(rest).port or 0

    async def run(self) -> None:
        """Start it again whenever it ends; raises StartFailed where that is of no use."""
        failures = 0
        while True:
            assert self._process is not None
            exit_status = _exit_description(await self._process.wait())
            if self._settings.in_memory:
                raise StartFailed(
                    f"the API server ended with {exit_status}, and its objects were in memory only"
                )
            if time.monotonic() - self._since > _STEADY_SECONDS:
                failures = 0
            failures += 1
            if failures > _MOST_FAILURES:
                raise StartFailed(f"the API server ended with {exit_status}, {failures} times in a row")
            _LOG.warning(
                "the API server ended with %s; it is started again on port %d", exit_status, self.port
            )
            await asyncio.sleep(pause_after(failures, _FIRST_DELAY, _LONGEST_DELAY))
            try:
                await self.start()
            except StartFailed as problem:
                _LOG.warning(str(problem))

    async def stop(self) -> None:
        """Have it end, and wait until it has."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        if self._answers:
            process.terminate()
            with suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await process.wait()
        # One that does not answer yet has nothing to finish, and may hang.
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def choose_address(invocation: Invocation, data: str) -> str:
    """The address from --listen, or the port of the last start if it is free."""
    port = saved_port(data)
    if invocation.is_set("listen") or port is None:
        return str(invocation["listen"])
    obstacle = _obstacle(port)
    if not obstacle:
        return f"{_LOOPBACK}:{port}"
    return _any_port(invocation, port, obstacle)


async def start_on_some_port(invocation: Invocation, data: str, server: ApiProcess) -> None:
    """Start the server, on another port if that of the last start is in use."""
    try:
        await server.start()
    except PortInUse as problem:
        port = saved_port(data)
        if invocation.is_set("listen") or port is None:
            raise
        server.address = _any_port(invocation, port, str(problem))
        await server.start()


def _any_port(invocation: Invocation, port: int, obstacle: str) -> str:
    invocation.stderr.write(
        f"crossply: warning: the port of this control plane, {port}, cannot be used: {obstacle}. It takes a "
        "free one this time. Copies of its kubeconfig that name the old port do not work until that is free "
        "again; --listen chooses another port for good.\n"
    )
    return f"{_LOOPBACK}:0"


def save_port(invocation: Invocation, data: str, port: int) -> None:
    """Keep the first port that there was, and every one that the user chooses."""
    if invocation.is_set("listen") or saved_port(data) is None:
        keep_port(data, port)


def _obstacle(port: int) -> str:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_LOOPBACK, port))
            probe.listen()
        except OSError as problem:
            return (problem.strerror or str(problem)).lower()
    return ""


def _start_failed(reason: Mapping[str, str]) -> StartFailed:
    from crossply.apiserver.assembly import ListenFailed

    hint = f"{reason['hint']} ({reason['code']})" if reason["hint"] else ""
    kind = PortInUse if reason["code"] == ListenFailed.code else StartFailed
    return kind(f"the API server did not start: {reason['message']}", hint=hint)


def _exit_description(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
