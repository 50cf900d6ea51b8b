"""The functions of one command: called by the names that pipeline steps use, and closed together."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType

from crossply.compose.function_messages import Request, Response
from crossply.functions import builtin
from crossply.functions.binding import bind, bind_builtin
from crossply.functions.failures import FunctionNotBound
from crossply.functions.runner import OpenRunners, Runner
from crossply.kinds.composition import Step
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.values import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.functions.composition_container_functions import ContainerFunctions


class Runners:
    """Calls the functions of steps.

    `functions` are Function objects, `preferred` is the command's `--function-runtime`.
    """

    __slots__ = ("_container_functions", "_functions", "_preferred", "_runners")

    def __init__(self, functions: Iterable[Object], preferred: str | None = None) -> None:
        self._functions = {function["metadata"]["name"]: function for function in functions}
        self._preferred = preferred
        self._runners: OpenRunners[str, Runner] = OpenRunners(self._open)
        self._container_functions: ContainerFunctions | None = None

    def call(self, name: str, request: Request, timeout: float) -> Response:
        """Call a function and wait at most `timeout` seconds."""
        return self._runners.get(name)(request, timeout)

    def call_step(self, step: Step, request: Request, timeout: float) -> Response:
        """Call the function of a step: a Function by name, or the image that the step names."""
        if step.container is None:
            return self.call(step.function, request, timeout)
        if self._container_functions is None:
            from crossply.functions.cli_container_runners import local_container_functions

            self._container_functions = local_container_functions()
        return self._container_functions.open(step)(request, timeout)

    def _open(self, name: str) -> Runner:
        if name == NATIVE_FUNCTION:
            return bind_builtin(builtin.NATIVE, name)
        if name not in self._functions:
            raise FunctionNotBound(
                f'unknown function "{name}" - is it listed in the render input?',
                hint=f"known functions: {', '.join(sorted(self._functions)) or 'none'}",
            )
        return bind(self._functions[name], self._preferred)

    def close(self) -> None:
        """Stop everything that was started for the functions."""
        self._runners.close_all()

    def __enter__(self) -> Runners:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
