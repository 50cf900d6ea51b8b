"""The provenance of a pipeline: the traces and the differences of its steps, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from crossply.compose.function_messages import Request, Resource
from crossply.functions.builtin.object_field_traces import leaves, union
from crossply.functions.field_provenance import (
    CONTEXT,
    DESIRED_COMPOSITE,
    ENVIRONMENT,
    ENVIRONMENT_KEY,
    PASSED_ON,
    REQUEST,
    FieldTrace,
    FieldTraces,
    Path,
    SourceField,
    StepTrace,
)
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.provenance.call_recorder import StepCall
from crossply.provenance.field_origins import origins_of
from crossply.provenance.model import COMPOSITE_STATUS, FieldSource, Provenance
from crossply.values import Object
from crossply.values.api_version import api_group
from crossply.values.deepcopy import equal
from crossply.values.field_path import PathError, parse, to_string

Sources = dict[Path, FieldSource]
"""The sources of the fields of one object."""

_FUNCTION = FieldTrace("function", "", (SourceField(REQUEST, ""),))
_NO_RESOURCE = Resource({})


def explain_pipeline(calls: Iterable[StepCall]) -> Provenance:
    """Find the source of every field that a pipeline desires."""
    history = _History()
    for call in calls:
        if call.response.desired is not None:
            history.add(call, trace_step(call))
    return history.provenance()


def trace_step(call: StepCall) -> StepTrace | None:
    """Trace a built-in function once more; None for other functions, which are known by what they changed."""
    tracer = _tracer(call)
    return None if tracer is None else tracer(call.request)


def _tracer(call: StepCall) -> Callable[[Request], StepTrace | None] | None:
    """The tracer for a step, known by its input: the function itself may run anywhere."""
    version = str((call.request.input or {}).get("apiVersion", ""))
    group = api_group(version)
    if group in ("pt.fn.crossplane.io", "conditional-pt.fn.crossplane.io"):
        return _patch_and_transform_tracer(call)
    if group == "gotemplating.fn.crossplane.io":
        from crossply.functions.builtin.go_templating import field_provenance as go_templating

        return go_templating.trace
    if group == "environmentconfigs.fn.crossplane.io":
        from crossply.functions.builtin.environment_configs import field_provenance as environment_configs

        return environment_configs.trace
    if group == "extra-resources.fn.crossplane.io":
        from crossply.functions.builtin import extra_resource_traces

        return extra_resource_traces.trace
    if call.function == NATIVE_FUNCTION:
        from crossply.functions.builtin.patch_and_transform.field_provenance import trace_native

        return trace_native
    return None


def _patch_and_transform_tracer(call: StepCall) -> Callable[[Request], StepTrace | None]:
    from crossply.functions.builtin.conditional_patch_and_transform.function import has_conditions

    if has_conditions(call.request.input or {}):
        from crossply.functions.builtin.conditional_patch_and_transform.field_provenance import trace
    else:
        from crossply.functions.builtin.patch_and_transform.field_provenance import trace
    return trace


class _History:
    """The sources after the steps so far."""

    def __init__(self) -> None:
        self._resources: dict[str, Sources] = {}
        self._composite: Sources = {}
        self._context: Sources = {}

    def add(self, call: StepCall, trace: StepTrace | None) -> None:
        assert call.response.desired is not None
        before, after = call.request.desired, call.response.desired
        traced = StepTrace({}, {}, {}) if trace is None else trace
        resources = {
            name: self._after(
                call,
                self._resources.get(name, {}),
                traced.resources.get(name),
                (before.resources.get(name, _NO_RESOURCE).object, resource.object),
            )
            for name, resource in after.resources.items()
        }
        composites = tuple(
            _without_type((state.composite or _NO_RESOURCE).object) for state in (before, after)
        )
        contexts = (call.request.context or {}, call.response.context or {})
        # What a traced function did not name in the XR and in the context, it passed on.
        composite = self._after(call, self._composite, trace and traced.composite, composites)
        self._context = self._after(call, self._context, trace and traced.context, contexts)
        self._resources, self._composite = resources, composite

    def _after(
        self,
        call: StepCall,
        known: Sources,
        traces: FieldTraces | None,
        values: tuple[Object, ...],
    ) -> Sources:
        """The sources of one object after a step."""
        before, after = values
        if before is after:
            return known
        unchanged = _leaf_values(before)
        sources: Sources = {}
        for leaf, value in leaves(after):
            earlier = known.get(leaf)
            trace = None if traces is None else traces.get(leaf)
            if trace is None and leaf in unchanged and equal(unchanged[leaf], value):
                if earlier is not None:
                    sources[leaf] = earlier
                continue
            sources[leaf] = self._source(call, trace or _FUNCTION, earlier)
        return sources

    def _source(self, call: StepCall, trace: FieldTrace, earlier: FieldSource | None) -> FieldSource:
        fields = self._with_origins(trace.sources)
        if trace.how == PASSED_ON and earlier is not None:
            return replace(earlier, sources=union(earlier.sources, fields))
        before = () if earlier is None else (earlier, *earlier.before)
        how = _FUNCTION.how if trace.how == PASSED_ON else trace.how
        return FieldSource(call.step, call.function, how, trace.where, fields, before)

    def _with_origins(self, sources: tuple[SourceField, ...]) -> tuple[SourceField, ...]:
        """The sources, and those of what earlier steps set."""
        origins: list[tuple[SourceField, ...]] = []
        for source in sources:
            fields, path = self._earlier(source)
            origins += origins_of(source.use, path, fields)
        return union(sources, *origins)

    def _earlier(self, source: SourceField) -> tuple[Sources, Path]:
        try:
            path = parse(source.path)
        except PathError:
            return {}, ()  # a key that field paths cannot spell
        if source.object == ENVIRONMENT:
            return self._context, (ENVIRONMENT_KEY, *path)
        if source.object == CONTEXT:
            return self._context, path
        if source.object == DESIRED_COMPOSITE:
            return self._composite, path
        if source.object.startswith("desired/"):
            return self._resources.get(source.object.removeprefix("desired/"), {}), path
        return {}, path

    def provenance(self) -> Provenance:
        objects: Mapping[str, Sources] = {COMPOSITE_STATUS: self._composite, **self._resources}
        return Provenance(
            {
                name: {to_string(path): source for path, source in sorted(sources.items(), key=_order)}
                for name, sources in objects.items()
            }
        )


def _without_type(xr: Object) -> Object:
    """The desired XR without its kind, which the engine knows and functions need not set."""
    return {key: value for key, value in xr.items() if key not in ("apiVersion", "kind")}


def _order(item: tuple[Path, FieldSource]) -> list[tuple[bool, Any]]:
    return [(isinstance(segment, int), segment) for segment in item[0]]


def _leaf_values(value: Any) -> dict[Path, Any]:
    return dict(leaves(value))
