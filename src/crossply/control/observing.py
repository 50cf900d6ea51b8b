"""Work under observation: each reconcile is a run with an id, a span and lines in the log that carry both.

`observed` wraps what a queue runs, `tell_failure` is for failures that the wrapped work handles itself.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import TypeVar

from crossply.errors import CrossplyError
from crossply.kube.queue import Queue
from crossply.record.run import current, running

K = TypeVar("K", bound=Hashable)
Work = Callable[[K], Awaitable[None]]

_log = logging.getLogger("crossply.control")


def observed(queue: Queue[K], kind: str, work: Work[K]) -> Work[K]:
    """The same work, each piece a run of its own; a key is the object's name, or its namespace and name."""

    async def observe(key: K) -> None:
        namespace, name = key if isinstance(key, tuple) else ("", key)
        with running(queue.name, kind, str(namespace), str(name)) as run:
            begun = time.perf_counter()
            try:
                await work(key)
            except Exception as problem:  # noqa: BLE001 - a mistake of ours must not end the queue
                run.failed(type(problem).__name__)
                _log.exception("reconcile failed unexpectedly")
                queue.retry(key)
            if _log.isEnabledFor(logging.DEBUG):
                _log.debug("reconcile ended", extra=_fields(ms=_milliseconds(begun)))

    return observe


def tell_failure(problem: CrossplyError) -> None:
    """Log why the current run failed, and mark its span."""
    run = current()
    if run is not None:
        run.failed(f"{problem.code}: {problem}")
    _log.warning("reconcile failed", extra=_fields(code=problem.code, error=str(problem)))


def _fields(**fields: object) -> dict[str, object]:
    return {"fields": fields}


def _milliseconds(begun: float) -> float:
    return round((time.perf_counter() - begun) * 1000, 1)
