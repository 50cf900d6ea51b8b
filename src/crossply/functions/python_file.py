"""Running the function in a Python file in this process: for its author, while it is being written.

It is loaded at the first call, and again when one of its files changes. It is the author's own code, so it
may do whatever this process may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.compose.function_messages import Request, Response
from crossply.errors import CrossplyError
from crossply.functions.failures import FunctionCrashed, FunctionNotBound, FunctionTimedOut

if TYPE_CHECKING:
    from crossply.functions.time_limit import TimeLimit
    from crossply.sdk.auto_reload import ReloadingFunction


class PythonFile:
    """The function of a file, `FILE` or `FILE:NAME`."""

    __slots__ = ("_function", "_limit", "_name", "_place")

    def __init__(self, name: str, place: str) -> None:
        self._name = name
        self._place = place
        self._function: ReloadingFunction | None = None
        self._limit: TimeLimit | None = None

    def __call__(self, request: Request, timeout: float) -> Response:
        """Call the function of the files as they are now."""
        from crossply.sdk.stdout_redirect import redirect_stdout_to_stderr

        with redirect_stdout_to_stderr():
            return self._call(request, timeout)

    def _call(self, request: Request, timeout: float) -> Response:
        from crossply.functions.time_limit import TimeLimit, TimeLimitReached

        function = self._loaded()
        if self._limit is None:
            self._limit = TimeLimit()
        try:
            return self._limit.run(timeout, lambda: function.run(request))
        except TimeLimitReached:
            late = f"still running after {timeout:.0f} s"
            raise FunctionTimedOut(f'cannot run Function "{self._name}": {late}') from None
        except CrossplyError as problem:
            message = f'cannot run Function "{self._name}": {problem}'
            raise FunctionCrashed(message, hint=problem.hint) from None

    def _loaded(self) -> ReloadingFunction:
        if self._function is None:
            from crossply.sdk.auto_reload import ReloadingFunction

            try:
                self._function = ReloadingFunction(self._place, log_line=self._say)
            except CrossplyError as problem:
                message = f'cannot run Function "{self._name}": {problem}'
                raise FunctionNotBound(message, hint=problem.hint) from None
        return self._function

    def _say(self, line: str) -> None:
        import logging

        logging.getLogger("crossply.functions").warning('Function "%s": %s', self._name, line)

    def close(self) -> None:
        """Stop watching the time; the file stays loaded."""
        limit, self._limit = self._limit, None
        if limit is not None:
            limit.close()
