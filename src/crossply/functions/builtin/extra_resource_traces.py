"""Tracing: which resource a value is from, where a function put what it required into the context."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.function_messages import Request
from crossply.compose.object_metadata import name_of, namespace_of, text_in
from crossply.functions.builtin.extra_resources import (
    CONTEXT_KEY,
    build_requirements,
    is_by_selector,
    read_input,
    select_resources,
)
from crossply.functions.builtin.input_decoder import InputError
from crossply.functions.builtin.object_field_traces import leaves, union
from crossply.functions.builtin.required_resource_selectors import (
    DEFAULT_SORT_PATH,
    SelectionError,
    is_optional,
    matcher_type,
)
from crossply.functions.field_provenance import (
    COMPOSITE,
    CONDITION,
    EXTRA_RESOURCE,
    FieldTrace,
    FieldTraces,
    Path,
    SourceField,
    StepTrace,
)
from crossply.values import Object
from crossply.values.field_path import to_string

Conditions = tuple[SourceField, ...]


def trace(request: Request) -> StepTrace | None:
    """Trace function-extra-resources; None for a request that it refuses, or that has no resources yet."""
    try:
        spec = read_input(request).get("spec", {})
        sources = spec.get("extraResources", [])
        build_requirements(request, sources)  # refuses what has no label
        if not request.required_resources:
            return None
        selected = list(select_resources(request, sources, is_optional(spec.get("policy"))))
    except (InputError, SelectionError):
        return None
    deciding = [(source.get("into", ""), _deciding(request, source)) for source in sources]
    counts: dict[str, int] = {}
    traces: FieldTraces = {}
    for index, chosen in enumerate(selected):
        into = deciding[index][0]
        # Sources with the same name share a list, and what was fetched.
        conditions = union(*(fields for name, fields in deciding if name == into))
        for obj in chosen:
            place = (CONTEXT_KEY, into, counts.get(into, 0))
            counts[into] = place[2] + 1
            traces |= resource_traces(place, obj, f"spec.extraResources[{index}]", conditions)
    return StepTrace({}, {}, traces)


def resource_traces(place: Path, obj: Object, where: str, conditions: Conditions) -> FieldTraces:
    """The traces of the fields of a resource that is put into the context."""
    name = resource_name(obj)
    traces = {}
    for leaf, _ in leaves(obj):
        sources = union((SourceField(name, to_string(leaf)),), conditions)
        traces[(*place, *leaf)] = FieldTrace(EXTRA_RESOURCE, where, sources)
    return traces


def resource_name(obj: Object) -> str:
    """`KIND/NAME`, or `KIND/NAMESPACE/NAME`."""
    return "/".join(filter(None, (text_in(obj, "kind"), namespace_of(obj), name_of(obj))))


def _deciding(request: Request, source: Object) -> Conditions:
    """What decides which resources a source selects, and in which order."""
    selector = source.get("selector")
    if not is_by_selector(source) or selector is None:
        return ()
    labels = [
        SourceField(COMPOSITE, matcher["valueFromFieldPath"], CONDITION)
        for matcher in selector.get("matchLabels", ())
        if matcher_type(matcher) == "FromCompositeFieldPath"
    ]
    fetched = request.required_resources.get(source.get("into", ""), ())
    path = selector.get("sortByFieldPath") or DEFAULT_SORT_PATH
    compared: Iterable[Object] = [resource.object for resource in fetched]
    if path == DEFAULT_SORT_PATH or len(fetched) < 2:
        compared = ()
    return (*labels, *(SourceField(resource_name(obj), path, CONDITION) for obj in compared))
