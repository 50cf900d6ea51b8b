"""Calling a function that runs in this process: the built-in ones."""

from __future__ import annotations

from crossply.compose.messages import Function, Request, Response
from crossply.errors import CrossplyError
from crossply.functions.failures import FunctionCrashed


class InProcess:
    """A function as a plain call. It cannot be interrupted: the built-in functions are bounded by design."""

    __slots__ = ("_function", "_name")

    def __init__(self, name: str, function: Function) -> None:
        self._name = name
        self._function = function

    def __call__(self, request: Request, timeout: float) -> Response:
        """Call the function here and now."""
        try:
            return self._function(request)
        except CrossplyError:
            raise
        except Exception as problem:
            said = f"{type(problem).__name__}: {problem}"
            hint = "this is a mistake in the function: please report it with the input that shows it"
            raise FunctionCrashed(f'cannot run Function "{self._name}": {said}', hint=hint) from problem

    def close(self) -> None:
        """Nothing was opened."""
