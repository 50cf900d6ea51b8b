"""One reconcile: which controller, which object, which time. Whatever happens inside finds it by `current()`.

The run is a context variable, so it follows the work into the tasks and threads that it starts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

Headers = tuple[tuple[str, str], ...]


class Trace(Protocol):
    """The spans of one run: the reconcile, within it the steps, within them the calls of functions."""

    id: str

    def begin_call(self, step: str, function: str) -> None:
        """A step calls its function; a step that calls it several times is one span."""
        ...

    def end_call(self, problem: str) -> None:
        """It answered, or not."""
        ...

    def fail(self, problem: str) -> None:
        """The run failed."""
        ...

    def headers(self) -> Headers:
        """The headers of a call, with the trace that it belongs to."""
        ...

    def end(self) -> None:
        """The run is over."""
        ...


class Run:
    """One reconcile of one object."""

    __slots__ = ("controller", "id", "kind", "name", "namespace", "trace")

    def __init__(self, controller: str, kind: str, namespace: str, name: str) -> None:
        self.controller = controller
        self.kind = kind
        self.namespace = namespace
        self.name = name
        self.id = os.urandom(6).hex()
        self.trace: Trace | None = None

    @property
    def subject(self) -> str:
        """The object as `Kind/name`, for log lines."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    def failed(self, problem: str) -> None:
        """Note that it failed."""
        if self.trace is not None:
            self.trace.fail(problem)


NewTrace = Callable[[Run], Trace]

_current: ContextVar[Run | None] = ContextVar("crossply.record.run_context", default=None)
_new_trace: NewTrace | None = None


def current() -> Run | None:
    """The run that this code works for, if it works for one."""
    return _current.get()


def trace_runs(new_trace: NewTrace | None) -> None:
    """Trace every run that begins from now on; with None, none."""
    global _new_trace
    _new_trace = new_trace


@contextmanager
def running(controller: str, kind: str, namespace: str, name: str) -> Iterator[Run]:
    """A run, from its beginning to its end."""
    run = Run(controller, kind, namespace, name)
    if _new_trace is not None:
        run.trace = _new_trace(run)
    token = _current.set(run)
    try:
        yield run
    finally:
        _current.reset(token)
        if run.trace is not None:
            run.trace.end()


def call_headers() -> Headers | None:
    """What a call of a function made now carries along."""
    run = _current.get()
    return run.trace.headers() if run is not None and run.trace is not None else None
