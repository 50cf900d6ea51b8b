"""One run under way: what the engine asks and what it is answered, kept as references.

Objects are not changed while they are read, so nothing is copied here. Whether the run is worth storing is
decided when it ends; all further work is done by another thread (see `recorder`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from crossply.compose.effects import (
    ApplyComposed,
    DeleteComposed,
    PublishDetails,
    RemoveFinalizer,
    SaveComposite,
    WriteStatus,
)
from crossply.compose.function_messages import Requirements
from crossply.compose.object_metadata import metadata_of
from crossply.compose.reconcile import Settings
from crossply.errors import CrossplyError
from crossply.values import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.kinds.operation import Operation

Answered = tuple[Any, Any, CrossplyError | None, float, float]
"""An effect, its answer, the problem that it was answered with instead, and when it began and ended."""


class CallNote(NamedTuple):
    """How a function was called."""

    revision: str
    cached: bool


class Capture:
    """One run of a pipeline."""

    __slots__ = (
        "calls",
        "exchanges",
        "finished",
        "operation",
        "problem",
        "required",
        "settings",
        "started",
        "started_at",
        "times",
        "triggers",
        "writes",
        "xr",
    )

    def __init__(
        self,
        xr: Object,
        settings: Settings,
        required: Mapping[str, Requirements] | None = None,
        triggers: tuple[str, ...] = (),
        operation: Operation | None = None,
        calls: list[CallNote] | None = None,
    ) -> None:
        """`calls` gets a note for each call of a function that is answered."""
        self.xr = xr
        self.times: list[str] = []
        """The times that the clock of the settings returned."""
        self.settings = settings._replace(now=self._timed(settings.now))
        self.required = required or {}
        self.triggers = triggers
        self.operation = operation
        self.exchanges: list[Answered] = []
        self.calls = [] if calls is None else calls
        self.writes: list[tuple[Object | None, Object]] = []
        """What an Operation wrote: the object that it wanted, and what the API server had then."""
        self.problem: BaseException | None = None
        self.started_at = time.time()
        self.started = time.perf_counter()
        self.finished = self.started

    def answered(self, effect: Any, answer: Any, problem: CrossplyError | None, started: float) -> None:
        """An effect was answered; what `compose.effect_driver` calls."""
        self.exchanges.append((effect, answer, problem, started, time.perf_counter()))

    def end(self, problem: BaseException | None = None) -> None:
        """The run is over."""
        self.problem = problem
        self.finished = time.perf_counter()

    def changed_anything(self) -> bool:
        """Whether the run wrote, deleted or published anything."""
        return bool(self.writes) or any(_is_change(exchange) for exchange in self.exchanges)

    def generation(self) -> int:
        """The generation of the composite resource after what the run wrote."""
        for effect, answer, _, _, _ in reversed(self.exchanges):
            if type(effect) in (WriteStatus, SaveComposite) and answer is not None:
                return generation_of(answer)
        return generation_of(self.xr)

    def _timed(self, now: Callable[[], str]) -> Callable[[], str]:
        times = self.times

        def timed() -> str:
            text = now()
            times.append(text)
            return text

        return timed


def generation_of(obj: Object) -> int:
    """The generation of an object; 0 where it has none."""
    generation = metadata_of(obj).get("generation")
    return generation if type(generation) is int else 0


def _is_change(exchange: Answered) -> bool:
    effect, answer, problem = exchange[:3]
    kind = type(effect)
    if kind is SaveComposite or kind is WriteStatus:
        return answer is not effect.live and problem is None
    if problem is not None:
        return False
    if kind is ApplyComposed:
        return bool(answer.written)
    if kind is PublishDetails:
        return answer is not None
    if kind is DeleteComposed:
        return any(not _is_going(deletion.snapshot.object) for deletion in effect.deletions)
    return kind is RemoveFinalizer


def _is_going(obj: Object) -> bool:
    return bool(metadata_of(obj).get("deletionTimestamp"))
