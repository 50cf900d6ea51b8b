"""Rendering as earlier versions of `up` did, before it ran Crossplane's own reconciler.

The composite resource had no UID that functions could see, and of the engine's conditions only Ready.
Composed resources had a prefix for generated names also where they had a name. Tests that were written then
hold in this way only.
"""

from __future__ import annotations

from crossply.compose.function_messages import Request, Response
from crossply.compose.in_memory_cluster import CallFunction
from crossply.compose.object_metadata import COMPOSITE_LABEL, metadata_of
from crossply.kinds.composition import Step
from crossply.testing.reconcile_rounds import RoundResult
from crossply.values import Object

_LATER_CONDITIONS = ("Synced", "Responsive")


def without_uid(call: CallFunction) -> CallFunction:
    """The same calls, in which the composite resource has no UID."""

    def called(step: Step, request: Request) -> Response:
        composite = request.observed.composite
        if composite is None:
            return call(step, request)
        metadata = {key: value for key, value in metadata_of(composite.object).items() if key != "uid"}
        shown = composite._replace(object={**composite.object, "metadata": metadata})
        return call(step, request.with_observed(request.observed._replace(composite=shown)))

    return called


def as_rendered_earlier(played: RoundResult) -> RoundResult:
    """The result of a round as it would have been."""
    rendered = played.rendered
    if rendered is None:
        return played
    composed = tuple(_with_prefix(obj) for obj in rendered.composed)
    composite = _with_earlier_conditions(rendered.composite)
    return played._replace(rendered=rendered._replace(composite=composite, composed=composed))


def _with_prefix(obj: Object) -> Object:
    metadata = metadata_of(obj)
    prefix = (metadata.get("labels") or {}).get(COMPOSITE_LABEL, "")
    return {**obj, "metadata": {"generateName": f"{prefix}-", **metadata}}


def _with_earlier_conditions(composite: Object) -> Object:
    status = composite.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    if not isinstance(conditions, list):
        return composite
    earlier = [condition for condition in conditions if condition.get("type") not in _LATER_CONDITIONS]
    return {**composite, "status": {**composite["status"], "conditions": earlier}}
