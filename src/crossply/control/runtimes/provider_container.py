"""A Provider in a container on this machine, with a network of its own where pasta is installed.

Inside it is as in a Pod: the service account and the certificates are where a Pod has them, and the API
server is at KUBERNETES_SERVICE_HOST. Its webhooks are reached by a port of this machine's loopback.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
from collections.abc import Callable
from typing import NamedTuple

from crossply.containers.container import Container
from crossply.containers.image_store import StoredImage
from crossply.containers.log_file import LogFile
from crossply.containers.pasta import PortForwards
from crossply.containers.settings import OWN, RUNNER, Limits, Mount, Settings
from crossply.control.runtimes.manifest_metadata import PORT, Subject
from crossply.control.runtimes.provider_environment import (
    api_variables,
    certificate_variables,
    identity_variables,
)
from crossply.control.runtimes.provider_network_isolation import ProviderNetwork
from crossply.control.runtimes.service_account_files import ACCOUNT, CLIENT, SERVER, ProviderFiles
from crossply.kube.config import SERVICE_ACCOUNT

LIMITS = Limits(memory=2 << 30, cpu=float(os.cpu_count() or 1), pids=4096, scratch=1 << 30)
"""A Pod without limits has all of its node. These keep one Provider from taking the machine."""
_SERVER, _CLIENT = "/tls/server", "/tls/client"
_GRACE = 5.0
_LONGEST_LINE = 16 << 10
_ANY_PORT = 0
_MOST_NETWORK_FAILURES = 2


def provider_settings(
    subject: Subject, files: ProviderFiles, chosen: Settings, server: str, network: ProviderNetwork
) -> Settings:
    """The settings of a Provider's container; `chosen` is what a runtime config says."""
    variables = {
        **identity_variables(subject),
        **certificate_variables(_SERVER, _CLIENT),
        **api_variables(server),
    }
    environment = tuple(f"{name}={value}" for name, value in variables.items())
    api_port = int(variables["KUBERNETES_SERVICE_PORT"])
    return chosen._replace(
        limits=LIMITS if chosen.limits == Limits() else chosen.limits,
        network=OWN if network.is_own else RUNNER,
        forwards=PortForwards((api_port, *network.host_ports), ((_ANY_PORT, PORT),)),
        environment=(*environment, *chosen.environment),
        hostname=subject.name[:63],
        mounts=(
            Mount(files.path(ACCOUNT), SERVICE_ACCOUNT),
            Mount(files.path(SERVER), _SERVER),
            Mount(files.path(CLIENT), _CLIENT),
        ),
    )


class ContainerProgram:
    """An image and its settings; each start takes a free port for the webhooks."""

    def __init__(self, image: StoredImage, settings: Settings) -> None:
        self._image, self._settings = image, settings
        self.webhook_port = PORT
        self.network_problem = ""
        self._network_failures = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContainerProgram) and self._inputs == other._inputs

    def __hash__(self) -> int:
        return hash(self._image.digest)

    @property
    def _inputs(self) -> tuple[object, ...]:
        return self._image.digest, self._settings

    async def start(self, log: LogFile) -> RunningContainer:
        """Start the container; raises a ContainerError."""
        settings = self._settings
        if self.network_problem:
            settings, self.webhook_port = settings._replace(network=RUNNER), PORT
        if settings.network == OWN:
            self.webhook_port = _free_port()
            published = ((self.webhook_port, PORT),)
            ports = ", ".join(map(str, settings.forwards.reachable))
            log.note(f"it has a network of its own; of this machine it reaches at localhost: {ports}")
            settings = settings._replace(forwards=settings.forwards._replace(published=published))
        log.note(f"starting its container, image {self._image.digest}")
        started = await asyncio.to_thread(_start, self._image, settings, log)
        return RunningContainer(started, asyncio.get_running_loop(), self._judge_network)

    def changed(self) -> str:
        """An image never changes."""
        return ""

    def _judge_network(self, problem: str) -> None:
        """Start it in the network of this machine from now on: else it would not run at all.

        Not at once: another process may just have bound the port of its webhooks.
        """
        self._network_failures = self._network_failures + 1 if problem else 0
        if self._network_failures >= _MOST_NETWORK_FAILURES:
            self.network_problem = problem


class _Output:
    """Reads what a container writes, line by line."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._read, self.write = os.pipe2(os.O_CLOEXEC)
        self._reader = threading.Thread(target=self._keep, daemon=True, name="provider output")

    def begin(self) -> None:
        """The container has its end of the pipe by now, or will never have it."""
        os.close(self.write)
        self._reader.start()

    def finish(self) -> None:
        self._reader.join(_GRACE)

    def _keep(self) -> None:
        with open(self._read, encoding="utf-8", errors="replace") as lines:
            while line := lines.readline(_LONGEST_LINE):
                self._log.write(line)


class _Started(NamedTuple):
    container: Container
    output: _Output


def _start(image: StoredImage, settings: Settings, log: LogFile) -> _Started:
    output = _Output(log)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        container = Container(image, settings, [nothing, output.write, output.write])
    finally:
        os.close(nothing)
        output.begin()
    return _Started(container, output)


class RunningContainer:
    """One run of a container. A thread waits for its end."""

    says_when_ready = False

    def __init__(
        self, started: _Started, loop: asyncio.AbstractEventLoop, judge_network: Callable[[str], None]
    ) -> None:
        self._container, self._output = started
        self._loop = loop
        self._judge_network = judge_network
        self._exit: asyncio.Future[str] = loop.create_future()
        threading.Thread(target=self._reap, daemon=True, name="provider container").start()

    async def wait(self) -> str:
        """How it ended."""
        return await asyncio.shield(self._exit)

    async def ready(self) -> None:
        """It never says so."""
        await self.wait()

    async def stop(self) -> None:
        """Ask its first process to end, then end it."""
        self._container.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await asyncio.shield(self._exit)
        await asyncio.to_thread(self._container.end)
        await self._exit

    def _reap(self) -> None:
        while not self._container.wait(3600.0):
            continue
        self._output.finish()
        reason = str(self._container.explain(""))
        self._judge_network(reason if self._container.has_no_network else "")
        self._container.release()
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._exit.set_result, reason)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
