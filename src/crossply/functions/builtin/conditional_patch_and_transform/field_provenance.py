"""Tracing: which patch set which field of the resources whose conditions are true."""

from __future__ import annotations

from crossply.compose.function_messages import Request
from crossply.functions.builtin.conditional_patch_and_transform.function import (
    CONDITIONAL,
    ConditionError,
    conditional_renderer,
    evaluate_conditions,
)
from crossply.functions.builtin.patch_and_transform.field_provenance import trace_rendering
from crossply.functions.field_provenance import StepTrace


def trace(request: Request) -> StepTrace | None:
    """Trace the function; None for a request that it refuses or passes on."""
    conditions = evaluate_conditions(request)
    try:
        if not conditions.allow_step():
            return None
    except ConditionError:
        return None
    return trace_rendering(request, CONDITIONAL, conditional_renderer(conditions))
