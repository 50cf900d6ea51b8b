"""The functions of an `internal render`, each at the address that the request names."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from crossply.cli.internal.render_wire import EngineRequestError
from crossply.compose.function_messages import Request, Response
from crossply.kinds.composition import Step

PIPELINE_FATAL = 3
"""The exit code when a step gives up."""


class Addresses:
    """The functions of a request, each at its address."""

    def __init__(self, functions: Mapping[str, str], timeout: float) -> None:
        from crossply.functions.remote import Remote

        self._runners = {name: Remote(name, address) for name, address in functions.items()}
        self._deadline = monotonic() + timeout

    def call(self, step: Step, request: Request) -> Response:
        """Call a step's function until the time of the whole command is up."""
        runner = self._runners.get(step.function)
        if runner is None:
            raise EngineRequestError(
                f'unknown function "{step.function}" - is it listed in the render input?'
            )
        return runner(request, max(self._deadline - monotonic(), 0.001))

    def __enter__(self) -> Addresses:
        return self

    def __exit__(self, *_: object) -> None:
        for runner in self._runners.values():
            runner.close()
