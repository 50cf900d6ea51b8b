"""Where the keys of a composed connection secret come from."""

from __future__ import annotations

from crossply.functions.builtin.object_field_traces import union
from crossply.functions.field_provenance import COMPOSITE, CONDITION, FieldTrace, FieldTraces, SourceField
from crossply.values import Object

_MODERN = SourceField(COMPOSITE, "spec.crossplane", CONDITION)
"""Only an XR that has this field gets a composed secret."""


def detail_traces(function_input: Object) -> FieldTraces:
    """The traces of `data.KEY` for each connection detail of the input; of several, the last one counts."""
    traces: FieldTraces = {}
    for index, resource in enumerate(function_input.get("resources") or []):
        for at, detail in enumerate(resource.get("connectionDetails") or []):
            path = ("data", str(detail.get("name", "")))
            earlier = traces[path].sources if path in traces else ()
            traces[path] = FieldTrace(
                f"connection detail {at} of {resource.get('name')} ({detail.get('type')})",
                f"resources[{index}].connectionDetails[{at}]",
                union(_sources(f"observed/{resource.get('name')}", detail), earlier, (_MODERN,)),
            )
    return traces


def _sources(observed: str, detail: Object) -> tuple[SourceField, ...]:
    if detail.get("type") == "FromConnectionSecretKey":
        key = str(detail.get("fromConnectionSecretKey", ""))
        return (SourceField(f"connection details of {observed}", key),)
    if detail.get("type") == "FromFieldPath":
        return (SourceField(observed, str(detail.get("fromFieldPath", ""))),)
    return ()
