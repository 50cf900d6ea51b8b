"""A captured run in one line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crossply.compose import effects
from crossply.compose.object_metadata import (
    is_paused,
    metadata_of,
    name_of,
    namespace_of,
    text_in,
    uid_of,
)
from crossply.errors import CrossplyError
from crossply.runs.capture import Capture
from crossply.runs.model import (
    APPLIED,
    COMPOSED,
    DELETE,
    DELETED,
    FAILED,
    INTERRUPTED,
    PAUSED,
    PUBLISHED,
    RELEASED,
    SAVED,
    STATUS,
    Subject,
)
from crossply.values import Object

_MOST_CHANGES = 100
_PROBLEM_LENGTH = 2_000
WAITING = "CP-801"
"""The code of the error that only means that something else has to happen first."""


def subject_of(obj: Object) -> Subject:
    """Whose run it is."""
    return Subject(
        text_in(obj, "apiVersion"), text_in(obj, "kind"), namespace_of(obj), name_of(obj), uid_of(obj)
    )


def summarize(capture: Capture, id_: str, subject: Subject) -> Object:
    """The summary as it is stored; secrets are still in it."""
    outcome, problem = _outcome(capture), capture.problem
    composition = revision = ""
    steps: set[tuple[int, str]] = set()
    pipelines = 0
    changes: dict[str, None] = {}
    for effect, answer, failure, _, _ in capture.exchanges:
        kind = type(effect)
        if kind not in _SUMMARIZED:
            continue
        if kind is effects.Call:
            steps.add((pipelines, effect.step.name))
        elif kind is effects.FetchComposition:
            pipelines += 1
        elif kind is effects.SelectRevision and answer is not None:
            composition, revision = effect.composition, answer.name
        elif failure is None:
            for change in _changes(effect, answer):
                changes[change] = None
    for _, written in capture.writes:
        changes[f"{APPLIED} {_named(written)}"] = None
    return {
        "id": id_,
        "subject": list(subject),
        "started": round(capture.started_at, 6),
        "seconds": round(capture.finished - capture.started, 6),
        "triggers": list(capture.triggers),
        "outcome": outcome,
        "problem": "" if problem is None else str(problem)[:_PROBLEM_LENGTH],
        "code": problem.code if isinstance(problem, CrossplyError) else "",
        "composition": composition,
        "revision": revision,
        "changes": list(changes)[:_MOST_CHANGES],
        "steps": len(steps),
    }


_SUMMARIZED = frozenset(
    {
        effects.Call,
        effects.FetchComposition,
        effects.SelectRevision,
        effects.ApplyComposed,
        effects.DeleteComposed,
        effects.SaveComposite,
        effects.WriteStatus,
        effects.PublishDetails,
        effects.RemoveFinalizer,
    }
)


def _outcome(capture: Capture) -> str:
    problem = capture.problem
    if problem is not None:
        reported = isinstance(problem, CrossplyError) and problem.code != WAITING
        return FAILED if reported else INTERRUPTED
    if capture.operation is None and is_paused(capture.xr):
        return PAUSED
    return DELETED if metadata_of(capture.xr).get("deletionTimestamp") else COMPOSED


def _changes(effect: Any, answer: Any) -> Iterable[str]:
    kind = type(effect)
    if kind is effects.ApplyComposed:
        return _applied(effect, answer)
    if kind is effects.DeleteComposed:
        return [f"{DELETE} {_named(deletion.snapshot.object)}" for deletion in effect.deletions]
    if kind is effects.SaveComposite:
        return (SAVED,) if answer is not effect.live else ()
    if kind is effects.WriteStatus:
        return (STATUS,) if answer is not effect.live else ()
    if kind is effects.PublishDetails:
        return (PUBLISHED,) if answer is not None else ()
    return (RELEASED,) if kind is effects.RemoveFinalizer else ()


def _applied(effect: effects.ApplyComposed, answer: effects.Applied) -> list[str]:
    written, refused = answer.written, answer.refused
    if not written and not refused:
        return []
    return [
        f"{APPLIED if resource.name in written else 'refused'} {_named(resource.object)}"
        for resource in effect.composed
        if resource.name in written or resource.name in refused
    ]


def _named(obj: Object) -> str:
    metadata = metadata_of(obj)
    name = text_in(metadata, "name") or text_in(metadata, "generateName")
    namespace = text_in(metadata, "namespace")
    return f"{text_in(obj, 'kind')} {namespace}/{name}" if namespace else f"{text_in(obj, 'kind')} {name}"
