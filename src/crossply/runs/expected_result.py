"""The result of a recorded run as the expectation of a test case (see `testing.suite`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crossply.compose.composed_resources import Composed
from crossply.compose.effects import ApplyComposed, Call, DeleteComposed, Diagnose, Observe, WriteStatus
from crossply.compose.object_metadata import text_in
from crossply.compose.ready_condition_cause import without_cause
from crossply.runs.effect_differences import placeholder_in
from crossply.runs.model import Exchange, Run
from crossply.values import Object

_CONDITION = ("type", "status", "reason", "message")
_CONTROL_PLANE = ("conditions", "connectionDetails", "watchedResourceRefs")
"""Fields of the status that are compared otherwise, or that only a control plane writes."""


def expected_result(run: Run) -> Object:
    """The `expect` of a case, or its `skip` where rendering cannot do what the run did."""
    last = _last_pipeline(run.world.exchanges)
    applied = _effect(last, ApplyComposed)
    if applied is not None:
        return {"expect": _composed(run, last, applied)}
    calls = [exchange for exchange in last if isinstance(exchange.effect, Call)]
    if calls and calls[-1].problem is not None:
        return {"skip": f"a function did not answer then: {calls[-1].problem}", "expect": {}}
    diagnosed = _effect(last, Diagnose)
    if diagnosed is not None:
        return {"expect": {"failure": str(diagnosed.effect.problem)}}
    return {"skip": "the run ended before it composed anything", "expect": {}}


def _last_pipeline(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """The exchanges from the last observation on: a run that creates something runs its pipeline twice."""
    last: list[Exchange] = []
    for exchange in exchanges:
        if isinstance(exchange.effect, Observe):
            last = []
        last.append(exchange)
    return last


def _effect(exchanges: Iterable[Exchange], kind: type) -> Exchange | None:
    """The last exchange of an effect."""
    last = None
    for exchange in exchanges:
        if isinstance(exchange.effect, kind):
            last = exchange
    return last


def _composed(run: Run, exchanges: list[Exchange], applied: Exchange) -> Object:
    expected: Object = {
        "resources": [_resource(resource) for resource in applied.effect.composed],
        "otherResources": "Forbid",
    }
    deleted = _effect(exchanges, DeleteComposed)
    if deleted is not None:
        expected["deleted"] = [deletion.name for deletion in deleted.effect.deletions]
    written = _effect(exchanges, WriteStatus)
    is_whole = applied.answer is not None and not applied.answer.refused and not run.summary.problem
    if written is not None and is_whole:
        conditions = _conditions(written.effect.status)
        definition = run.world.definition
        shows_cause = definition is not None and definition.shows_cause
        expected["conditions"] = [*map(_as_rendered, conditions)] if shows_cause else conditions
        status = _without_placeholders(_status(written.effect.status))
        if status:
            expected["composite"] = {"status": status}
    return expected


def _resource(resource: Composed) -> Object:
    """A composed resource, exactly; where values were redacted, they may be anything."""
    comparable = _without_placeholders(resource.object)
    match = "Exact" if comparable == resource.object else "Subset"
    return {"name": resource.name, "match": match, "object": comparable, "ready": resource.ready}


def _without_placeholders(value: Any) -> Any:
    if isinstance(value, dict):
        public = {key: item for key, item in value.items() if not placeholder_in(item)}
        return {key: _without_placeholders(item) for key, item in public.items()}
    return [_without_placeholders(item) for item in value] if isinstance(value, list) else value


def _status(status: Object) -> Object:
    """What functions set of the status."""
    return {key: value for key, value in status.items() if key not in _CONTROL_PLANE}


def _conditions(status: Object) -> list[Object]:
    conditions: Any = status.get("conditions") or []
    return [
        {key: text_in(condition, key) for key in _CONDITION if text_in(condition, key)}
        for condition in conditions
        if isinstance(condition, dict)
    ]


def _as_rendered(condition: Object) -> Object:
    """A condition without the deepest cause, which only a control plane shows."""
    message = without_cause(text_in(condition, "message"))
    public = {key: text for key, text in condition.items() if key != "message"}
    return {**public, "message": message} if message else public
