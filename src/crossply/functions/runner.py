"""The one way to call a function, however it is run.

`binding` decides which runner serves a Function; `in_process`, `process`, `remote`, `in_container` and
`docker` are the runners. A runner opens what it needs at its first call, so a function that no step uses
costs nothing.
"""

from __future__ import annotations

from typing import Protocol

from crossply.compose.messages import Request, Response


class Runner(Protocol):
    """Calls one function. Every failure is a `FunctionError`."""

    def __call__(self, request: Request, timeout: float) -> Response:
        """Call the function and wait at most `timeout` seconds."""

    def close(self) -> None:
        """Let go of everything that was opened; the runner may be called again later."""
