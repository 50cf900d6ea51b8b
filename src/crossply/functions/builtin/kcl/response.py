"""The response of a step: the requirements, conditions, events, context and desired state of its outcome."""

from __future__ import annotations

from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    SEVERITY_WARNING,
    STATUS_FALSE,
    STATUS_TRUE,
    STATUS_UNKNOWN,
    TARGET_COMPOSITE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    Request,
    Requirements,
    Response,
    Result,
    respond,
)
from crossply.functions.builtin.kcl.response_state import Outcome
from crossply.values import Object
from crossply.values.merge import MergeOptions, merge

_OVERRIDE = MergeOptions(keep_map_values=False)
_STATUS = {"True": STATUS_TRUE, "False": STATUS_FALSE}
_SEVERITY = {"Normal": SEVERITY_NORMAL, "Warning": SEVERITY_WARNING}
_SYSTEM_CONDITIONS = frozenset(("Ready", "Synced", "Healthy"))


def respond_with(request: Request, outcome: Outcome) -> Response:
    """The response. What precedes a refused condition or event stays in it, as in the published function."""
    requirements = _requirements(outcome)
    conditions, problem = _conditions(outcome.conditions)
    results: tuple[Result, ...] = ()
    if problem is None:
        results, problem = _results(outcome.events)
    if problem is not None:
        refused = Result(SEVERITY_FATAL, problem, None, TARGET_COMPOSITE)
        return respond(request, requirements=requirements, conditions=conditions, results=(*results, refused))
    return respond(
        request,
        desired=outcome.desired(),
        requirements=requirements,
        conditions=conditions,
        results=results,
        context=_context(request, outcome),
    )


def _requirements(outcome: Outcome) -> Requirements | None:
    if not outcome.selectors and not outcome.extra_selectors:
        return None
    return Requirements(resources=outcome.selectors, extra_resources=outcome.extra_selectors)


def _conditions(declared: list[Object]) -> tuple[tuple[Condition, ...], str | None]:
    """The conditions, and why one is refused. A later one of a type counts only with `force`."""
    conditions: list[Condition] = []
    types = set()
    for entry in declared:
        condition = entry.get("condition", {})
        kind = condition.get("type", "")
        if kind in _SYSTEM_CONDITIONS:
            problem = f"cannot set ClaimCondition type: {kind} is a reserved Crossplane Condition"
            return tuple(conditions), problem
        if kind in types and not entry.get("force"):
            continue
        types.add(kind)
        status = _STATUS.get(condition.get("status", ""), STATUS_UNKNOWN)
        message, target = condition.get("message"), _target(entry)
        conditions.append(Condition(kind, status, condition.get("reason", ""), message, target))
    return tuple(conditions), None


def _results(events: list[Object]) -> tuple[tuple[Result, ...], str | None]:
    """The results, and why an event is refused."""
    results: list[Result] = []
    for entry in events:
        event = entry.get("event", {})
        kind = event.get("type", "Normal")
        if kind not in _SEVERITY:
            return tuple(results), f"invalid type {kind}, must be one of [Normal, Warning]"
        message, reason = event.get("message", ""), event.get("reason")
        results.append(Result(_SEVERITY[kind], message, reason, _target(entry)))
    return tuple(results), None


def _target(entry: Object) -> int:
    both = entry.get("target") == "CompositeAndClaim"
    return TARGET_COMPOSITE_AND_CLAIM if both else TARGET_COMPOSITE


def _context(request: Request, outcome: Outcome) -> Object | None:
    if not outcome.context:
        return request.context
    merged: Object = merge(request.context or {}, outcome.context, _OVERRIDE)
    return merged
