"""Keeps the processes of web servers running while the provider does.

The provider holds the listening socket and passes it to the process. So a port stays taken while a process is
started again, and requests wait for it. A process ends with its standard input, a pipe that the provider
holds: none outlives the provider, and no process is ever looked up by a PID that may have another owner.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import time

from provider_local.confined_tree import ConfinedTree
from provider_local.loopback_ports import PortInUse, listen, listen_on_free_port
from provider_local.relative_path import path_components
from provider_local.web_server_units import ServerUnit, ServerUnits

_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); from {module} import main; main(*sys.argv[2:])".format(
        module="provider_local.web_server_program"
    )
)
_STOP_SECONDS = 3.0
_STABLE_SECONDS = 10.0
_LONGEST_PAUSE = 10.0


class SupervisedServer:
    """One web server: its process is started, and started again when it ends."""

    def __init__(self, unit: ServerUnit, root: str, listener: socket.socket | None = None) -> None:
        self.unit = unit
        self.problem = ""
        """Why it does not run; empty while it does."""
        self.pid: int | None = None
        self.attempted = asyncio.Event()
        """Set when the process was started for the first time, or could not be."""
        self._root = root
        self._listener = listener
        self._task = asyncio.create_task(self._supervise(), name=f"web server {unit.name}")

    async def stop(self) -> None:
        """End the process and free the port."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        if self._listener is not None:
            self._listener.close()

    async def _supervise(self) -> None:
        failures = 0
        while True:
            started = time.monotonic()
            try:
                self._listener = self._listener or listen(self.unit.port)
                self.problem = f"the process ended with code {await self._run(self._listener)}"
            except (OSError, PortInUse) as problem:
                self.problem = str(problem)
            self.attempted.set()
            failures = 0 if time.monotonic() - started > _STABLE_SECONDS else failures + 1
            await asyncio.sleep(min(0.1 * 2**failures, _LONGEST_PAUSE))

    async def _run(self, listener: socket.socket) -> int:
        process = await asyncio.create_subprocess_exec(
            *self._command(listener.fileno()),
            pass_fds=(listener.fileno(),),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            env={"PATH": os.defpath},  # nothing of the provider's credentials
            cwd="/",
            start_new_session=True,
        )
        self.pid, self.problem = process.pid, ""
        self.attempted.set()
        try:
            return await process.wait()
        finally:
            self.pid = None
            await _end(process)

    def _command(self, descriptor: int) -> list[str]:
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        served = (self.unit.namespace, *path_components(self.unit.directory))
        return [sys.executable, "-I", "-c", _PROGRAM, package, self._root, str(descriptor), *served]


class Supervisor:
    """All web servers of a provider."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._units = ServerUnits(ConfinedTree(root))
        self._servers: dict[tuple[str, str], SupervisedServer] = {}

    def resume(self) -> None:
        """Start the servers that ran when the provider ended."""
        for unit in self._units.load_all():
            self._servers[unit.namespace, unit.name] = SupervisedServer(unit, self._root)

    def find(self, namespace: str, name: str) -> SupervisedServer | None:
        """A server that should run; None where there is none."""
        server = self._servers.get((namespace, name))
        return server if server is not None and self._units.load(namespace, name) is not None else None

    async def start(self, namespace: str, name: str, directory: str, port: int | None) -> None:
        """Serve a directory; replaces a server of that name, whose port it keeps unless another is given.

        Raises PortInUse, in which case a server that has another port continues to run.
        """
        previous = self._units.load(namespace, name)
        if port is None and previous is not None:
            port = previous.port
        if previous is not None and port == previous.port:
            await self._stop(namespace, name)
        listener = self._listen_on_free_port() if port is None else listen(port)
        await self._stop(namespace, name)
        unit = ServerUnit(namespace, name, directory, listener.getsockname()[1])
        self._units.save(unit)
        self._servers[namespace, name] = SupervisedServer(unit, self._root, listener)

    def _listen_on_free_port(self) -> socket.socket:
        return listen_on_free_port({unit.port for unit in self._units.load_all()})

    async def remove(self, namespace: str, name: str) -> None:
        """Stop a server for good; one that does not exist is no error."""
        await self._stop(namespace, name)
        self._units.remove(namespace, name)

    async def _stop(self, namespace: str, name: str) -> None:
        server = self._servers.pop((namespace, name), None)
        if server is not None:
            await server.stop()

    async def close(self) -> None:
        """Stop all processes; `resume` starts them again."""
        for namespace, name in list(self._servers):
            await self._stop(namespace, name)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
