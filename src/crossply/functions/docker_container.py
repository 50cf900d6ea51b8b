"""Running a function as a container, where a Docker engine (or podman's compatible socket) answers.

The function serves plaintext gRPC on port 9443 of its container (`--insecure`), which is published on
loopback, or reached by name in a network that the caller is part of.
"""

from __future__ import annotations

import os
import time
from typing import Any

from crossply.compose.function_messages import Request, Response
from crossply.functions.docker_engine import Engine, find_engine
from crossply.functions.docker_settings import ALWAYS, IF_NOT_PRESENT, REMOVE, STOP, ContainerSettings
from crossply.functions.failures import ContainerEngineUnavailable, ContainerFailed, FunctionError
from crossply.functions.remote import Remote

_PORT = "9443/tcp"
_LOG_LINES = 12
_POLL = 0.25


class DockerContainer:
    """A function behind gRPC in a container, which is started at the first call."""

    __slots__ = ("_alternatives", "_container", "_engine", "_remote", "_settings")

    def __init__(self, settings: ContainerSettings, alternatives: str = "") -> None:
        self._settings = settings
        self._alternatives = alternatives
        self._engine: Engine | None = None
        self._container = ""
        self._remote: Remote | None = None

    def __call__(self, request: Request, timeout: float) -> Response:
        """Call the function, starting its container if none runs."""
        deadline = time.monotonic() + timeout
        if self._remote is None:
            try:
                self._remote = self._start(deadline)
            except FunctionError as problem:
                raise self._explain(problem) from None
        return self._remote(request, max(deadline - time.monotonic(), 0.001))

    def close(self) -> None:
        """Leave, stop or remove the container, as its Function says."""
        remote, self._remote = self._remote, None
        if remote is not None:
            remote.close()
        container, self._container = self._container, ""
        if not container or self._engine is None:
            return
        if self._settings.cleanup == REMOVE:
            self._engine.remove(container)
        elif self._settings.cleanup == STOP:
            self._engine.stop(container)

    def _explain(self, problem: FunctionError) -> FunctionError:
        settings = self._settings
        message = f'cannot run Function "{settings.function}": package "{settings.image}": {problem}'
        alternatives = self._alternatives if isinstance(problem, ContainerEngineUnavailable) else ""
        return problem.replace(message=message, hint=alternatives or None)

    def _start(self, deadline: float) -> Remote:
        self._engine = engine = find_engine(os.environ)
        self._container = self._existing(engine) or self._create(engine)
        engine.start(self._container)
        remote = Remote(self._settings.function, self._target(engine))
        while not remote.ready(_POLL):
            self._check_running(engine)
            if time.monotonic() > deadline:
                # The call itself then says that the deadline has passed.
                break
        return remote

    def _existing(self, engine: Engine) -> str:
        container = engine.inspect(self._settings.name) if self._settings.name else None
        return str(container["Id"]) if container else ""

    def _create(self, engine: Engine) -> str:
        settings = self._settings
        missing = settings.pull_policy == IF_NOT_PRESENT and not engine.has_image(settings.image)
        if missing or settings.pull_policy == ALWAYS:
            engine.pull(settings.image)
        return engine.create(settings.name, _description(settings))

    def _target(self, engine: Engine) -> str:
        state = engine.inspect(self._container) or {}
        if self._settings.network:
            return f"{state['Name'].lstrip('/')}:9443"
        published = (state.get("NetworkSettings", {}).get("Ports") or {}).get(_PORT)
        if not published:
            self._check_running(engine)
            raise ContainerFailed(f"container {self._container[:12]} does not publish port {_PORT}")
        host = self._settings.target or published[0]["HostIp"] or "127.0.0.1"
        return f"{host}:{published[0]['HostPort']}"

    def _check_running(self, engine: Engine) -> None:
        state = (engine.inspect(self._container) or {}).get("State", {})
        if state.get("Running"):
            return
        log = engine.log_tail(self._container, _LOG_LINES)
        raise ContainerFailed(f"its container ended with exit code {state.get('ExitCode')}: {log}")


def _description(settings: ContainerSettings) -> dict[str, Any]:
    binding = {"HostIp": settings.publish_address, "HostPort": ""}  # the engine picks a free port
    host: dict[str, Any] = {"PortBindings": {_PORT: [binding]}}
    if settings.network:
        host["NetworkMode"] = settings.network
    return {
        "Image": settings.image,
        "Cmd": ["--insecure"],
        "Env": list(settings.environment),
        "ExposedPorts": {_PORT: {}},
        "HostConfig": host,
    }
