"""The interface of everything that calls a function.

`binding` decides which runner serves a Function: `in_process`, `local_process`, `python_file`,
`template_directory_function`, `remote`, `daemonless_container_runner` or `docker_container`;
`composition_container_functions` has the runners of steps that name an image. `circuit_breaker` wraps a
runner. Commands call runners as they are; the control plane wraps them once more
(`control/calls/runner_protocol`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

from crossply.compose.function_messages import Request, Response


class Runner(Protocol):
    """Calls one function and blocks until it answers. Every failure is a `FunctionError`.

    A runner opens what it needs at its first call, so a function that no step uses costs nothing.
    """

    def __call__(self, request: Request, timeout: float) -> Response:
        """Call the function and wait at most `timeout` seconds."""

    def close(self) -> None:
        """Release what was opened; the runner may be called again later."""


class Closable(Protocol):
    """What can be closed: a `Runner`, or the control plane's `AsyncRunner`."""

    def close(self) -> None: ...


Key = TypeVar("Key", bound=Hashable)
AnyRunner = TypeVar("AnyRunner", bound=Closable)


class OpenRunners(Generic[Key, AnyRunner]):
    """Runners by what they call. Each is opened when it is first needed."""

    __slots__ = ("_open", "_runners")

    def __init__(self, open_runner: Callable[[Key], AnyRunner]) -> None:
        self._open = open_runner
        self._runners: dict[Key, AnyRunner] = {}

    def get(self, key: Key) -> AnyRunner:
        runner = self._runners.get(key)
        if runner is None:
            runner = self._runners[key] = self._open(key)
        return runner

    def open_keys(self) -> list[Key]:
        return list(self._runners)

    def close(self, key: Key) -> None:
        self._runners.pop(key).close()

    def close_all(self) -> None:
        while self._runners:
            self._runners.popitem()[1].close()
