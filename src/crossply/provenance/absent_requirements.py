"""Requirements of functions that nothing matched, which explains why so little was rendered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crossply.compose.function_messages import ResourceSelector
from crossply.provenance.call_recorder import StepCall


def absent_requirements(calls: Iterable[StepCall]) -> Iterator[str]:
    """`step copy requires Secret pw, which is not provided`, for the last call of each step."""
    for call in calls:
        requirements = call.response.requirements
        if requirements is None:
            continue
        selectors = {**requirements.extra_resources, **requirements.resources}
        sent = {**call.request.extra_resources, **call.request.required_resources}
        for name, selector in sorted(selectors.items()):
            if not sent.get(name):
                yield f"step {call.step} requires {_selected(selector)}, which is not provided"


def _selected(selector: ResourceSelector) -> str:
    if selector.match_name is not None:
        place = f"{selector.namespace}/" if selector.namespace else ""
        return f"{selector.kind} {place}{selector.match_name}"
    labels = ", ".join(f"{key}={value}" for key, value in sorted((selector.match_labels or {}).items()))
    return f"{selector.kind} with {labels}" if labels else selector.kind
