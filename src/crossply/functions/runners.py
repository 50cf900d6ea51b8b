"""The functions of one run by name: each is bound when it is first called, and all are closed together."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType

from crossply.compose.messages import Request, Response
from crossply.functions import builtin
from crossply.functions.binding import bind, bind_builtin
from crossply.functions.failures import FunctionNotBound
from crossply.functions.runner import Runner
from crossply.kinds.composition import NATIVE_FUNCTION, Step
from crossply.values import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.functions.container_steps import ContainerSteps


class Runners:
    """Calls functions by the names that pipeline steps use.

    `functions` are Function objects, `preferred` is the command's `--function-runtime`.
    """

    __slots__ = ("_functions", "_open", "_preferred", "_steps")

    def __init__(self, functions: Iterable[Object], preferred: str | None = None) -> None:
        self._functions = {function["metadata"]["name"]: function for function in functions}
        self._preferred = preferred
        self._open: dict[str, Runner] = {}
        self._steps: ContainerSteps | None = None

    def call(self, name: str, request: Request, timeout: float) -> Response:
        """Call a function and wait at most `timeout` seconds."""
        runner = self._open.get(name)
        if runner is None:
            runner = self._open[name] = self._bind(name)
        return runner(request, timeout)

    def call_step(self, step: Step, request: Request, timeout: float) -> Response:
        """Call the function of a step, whichever kind of function it is."""
        if step.container is None:
            return self.call(step.function, request, timeout)
        if self._steps is None:
            from crossply.functions.local_containers import local_steps

            self._steps = local_steps()
        return self._steps(step, request, timeout)

    def _bind(self, name: str) -> Runner:
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
        while self._open:
            self._open.popitem()[1].close()

    def __enter__(self) -> Runners:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
