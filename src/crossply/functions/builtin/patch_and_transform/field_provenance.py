"""Tracing: which patch set which field, and from which one.

The function runs again, with its compiled patches wrapped. A wrapper calls the patch, and notes what it read
and wrote, or that it did not apply: then the field depends on the source, too, which would replace it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from crossply.compose.function_messages import Request, Response
from crossply.compose.requirements import is_fatal
from crossply.functions.builtin.object_field_traces import (
    TracedObject,
    as_conditions,
    leaves,
    union,
    without_indexes,
)
from crossply.functions.builtin.patch_and_transform import function, resources_mode
from crossply.functions.builtin.patch_and_transform.compiled_input import (
    CompiledInput,
    CompiledTemplate,
    compile_input,
)
from crossply.functions.builtin.patch_and_transform.compiled_input_run import (
    RenderState,
    RenderTemplate,
    render_response,
)
from crossply.functions.builtin.patch_and_transform.connection_detail_traces import detail_traces
from crossply.functions.builtin.patch_and_transform.dialect import (
    COMBINE_TYPES,
    FROM_COMPOSED,
    FROM_COMPOSITE,
    FROM_ENVIRONMENT,
    FUNCTION,
    TO_COMPOSED,
    TO_COMPOSITE,
    TO_ENVIRONMENT,
    Dialect,
    merge_options,
    target_path,
)
from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Fatal
from crossply.functions.builtin.patch_and_transform.patch_locations_in_input import (
    PlacedPatch,
    placed_patches,
)
from crossply.functions.builtin.patch_and_transform.patches import Apply, Patch
from crossply.functions.field_provenance import (
    COMPOSITE,
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
from crossply.values import field_path as paths
from crossply.values.deepcopy import deepcopy
from crossply.values.field_path import PathError

if TYPE_CHECKING:
    from crossply.functions.builtin.patch_and_transform.resources_mode_environment_traces import (
        EnvironmentTraces,
    )

_UNKNOWN = FieldTrace("function", "", (SourceField(REQUEST, ""),))


def trace(request: Request) -> StepTrace | None:
    """Trace function-patch-and-transform; None for a request that it refuses."""
    return trace_rendering(request, FUNCTION, function.render)


def trace_native(request: Request) -> StepTrace | None:
    """Trace a Composition of `mode: Resources`."""
    written = (request.input or {}).get("environment")
    if not isinstance(written, dict):
        return trace_rendering(request, resources_mode.NATIVE, resources_mode.render)
    from crossply.functions.builtin.patch_and_transform.resources_mode_environment_traces import (
        environment_traces,
    )

    prepared = resources_mode.prepare_environment(request, written)
    if isinstance(prepared, Response):
        return None  # the configs are not fetched yet, or there is none
    environment = environment_traces(request, written)
    return trace_rendering(prepared.request, resources_mode.NATIVE, resources_mode.render, environment)


def trace_rendering(
    request: Request,
    dialect: Dialect,
    render: RenderTemplate,
    environment: EnvironmentTraces | None = None,
) -> StepTrace | None:
    """Trace one run of a dialect; None for a request that it refuses."""
    try:
        compiled = compile_input(request.input or {}, dialect)
    except Fatal:
        return None
    tracer = _Tracer(request, dialect, render, environment)
    response = render_response(request, tracer.wrapped(compiled), tracer.render)
    return None if is_fatal(response) else tracer.step_trace(response)


class _Tracer:
    """One traced run."""

    def __init__(
        self,
        request: Request,
        dialect: Dialect,
        render: RenderTemplate,
        environment: EnvironmentTraces | None = None,
    ) -> None:
        self._request = request
        self._dialect = dialect
        self._render = render
        self._environment = TracedObject()
        self._selection: tuple[SourceField, ...] = ()
        """What decides about fields that the environment does not have."""
        if environment is not None:
            self._environment.fields.update(environment.fields)
            self._selection = environment.selection
        self._composite = TracedObject()
        self._resource = TracedObject()
        """The resource that is being rendered."""
        self._resources: dict[str, FieldTraces] = {}
        self._started: Any = None
        self._where: dict[str, str] = {}
        self._required: dict[str, tuple[SourceField, ...]] = {}
        """The sources without which a resource is not composed."""
        self._written: dict[str, tuple[tuple[int, Path], ...]] = {}
        """Where patches of a native resource write to the environment and to the XR."""

    def wrapped(self, compiled: CompiledInput) -> CompiledInput:
        """The input with wrapped patches."""
        placed = placed_patches(self._request.input or {})
        templates = tuple(
            template._replace(
                patches=tuple(
                    self._patch(patch, settings, template.name)
                    for patch, settings in zip(template.patches, placed.resources[index], strict=True)
                )
            )
            for index, template in enumerate(compiled.templates)
        )
        self._where = {t.name: f"resources[{index}].base" for index, t in enumerate(templates)}
        environment = tuple(
            self._patch(patch, settings, "")
            for patch, settings in zip(compiled.environment, placed.environment, strict=True)
        )
        return compiled._replace(templates=templates, environment=environment, writes_composite=True)

    def render(self, state: RenderState, template: CompiledTemplate) -> None:
        """Render one resource with the function's own code."""
        self._resource = traced = TracedObject()
        before = state.desired.get(template.name)
        self._render(state, template._replace(start=self._start(state, template)))
        required = as_conditions(self._with_origins(self._required.get(template.name, ())))
        for target, place in self._written.get(template.name, ()):
            # A required patch that fails keeps those after it from writing.
            self._traced(target).add_sources(place, required)
        after = state.desired.get(template.name)
        if after is None or after is before:
            return
        exists = template.name in state.observed
        if after.object is not self._started:
            traced.write((), after.object, lambda leaf: _observed_trace(template.name, leaf))
        if not exists or self._dialect.native_numbers:
            # It is not composed until the sources of its required patches exist.
            traced.add_sources((), required)
        self._resources[template.name] = {
            leaf: traced.fields.get(leaf, _UNKNOWN) for leaf, _ in leaves(after.object)
        }

    def _start(self, state: RenderState, template: CompiledTemplate) -> Callable[[], Any] | None:
        start = template.start
        base = FieldTrace("base", self._where[template.name])
        if start is None:
            earlier = state.desired.get(template.name)
            if earlier is None:
                return None  # refused by the function

            def start() -> Any:
                return deepcopy(earlier.object)

            base = FieldTrace(PASSED_ON, "")

        def traced_start() -> Any:
            desired = self._started = start()
            self._resource.write((), desired, lambda _: base)
            if template.name in state.observed:
                self._adopt(template.name)
            return desired

        return traced_start

    def _adopt(self, name: str) -> None:
        for field in ("name", "namespace"):
            source = SourceField(f"observed/{name}", f"metadata.{field}")
            how = FieldTrace(f"{field} of the existing resource", "", (source,))
            self._resource.write(("metadata", field), "", lambda _, how=how: how)  # type: ignore[misc]

    def _patch(self, patch: Patch, placed: PlacedPatch, resource: str) -> Patch:
        origin = _SOURCE_OBJECTS[patch.source].format(resource)
        if self._dialect.native_numbers and patch.source == FROM_COMPOSED:
            place = _parsed(target_path(placed.settings)) or ()
            place = place[: place.index("*")] if "*" in place else place
            self._written[resource] = (*self._written.get(resource, ()), (patch.target, place))
            if patch.target == TO_ENVIRONMENT:
                origin = f"{_DESIRED}{resource}"
        sources = tuple(SourceField(origin, path) for path in placed.reads)
        if patch.policy == "Required" and patch.target == TO_COMPOSED:
            self._required[resource] = (*self._required.get(resource, ()), *sources)
        return patch._replace(apply=self._apply(patch, placed, sources))

    def _apply(self, patch: Patch, placed: PlacedPatch, sources: tuple[SourceField, ...]) -> Apply:
        target = target_path(placed.settings)
        merges = merge_options(placed.settings, self._dialect) is not None
        is_copy = patch.type not in COMBINE_TYPES and not placed.settings.get("transforms")

        def note(traced: TracedObject, written_to: Any, place: Path, old: Any) -> None:
            def trace_of(leaf: Path) -> FieldTrace:
                below = without_indexes(leaf[len(place) :]) if merges else leaf[len(place) :]
                read = (_narrowed(sources[0], below),) if is_copy else sources
                return FieldTrace(placed.how, placed.where, self._with_origins(read))

            value = _value_at(written_to, place)
            if merges:
                traced.merge(place, old, value, trace_of)
            else:
                traced.write(place, value, trace_of)
            conditions = as_conditions(self._with_origins(sources))
            _note_nulls(traced, written_to, place, FieldTrace(placed.how, placed.where, conditions))

        def apply(origin: Any, written_to: Any) -> Any:
            traced = self._traced(patch.target)
            places = _expanded(written_to, target, patch.type)
            old = [deepcopy(_value_at(written_to, place)) if merges else None for place in places]
            try:
                written = patch.apply(origin, written_to)
            except FAILURES:
                for place in places:
                    traced.add_sources(place, as_conditions(self._with_origins(sources)))
                raise
            for place, before in zip(places, old, strict=True):
                note(traced, written_to, place, before)
            return written

        return apply

    def _traced(self, target: int) -> TracedObject:
        return {
            TO_COMPOSED: self._resource,
            TO_COMPOSITE: self._composite,
            TO_ENVIRONMENT: self._environment,
        }[target]

    def _with_origins(self, sources: tuple[SourceField, ...]) -> tuple[SourceField, ...]:
        """The sources, and those of what was written in this run to the environment and to the resource."""
        origins: list[tuple[SourceField, ...]] = []
        for source in sources:
            path = _parsed(source.path)
            if path is None:
                continue  # the patch failed
            if source.object == ENVIRONMENT:
                origins += self._environment.sources_near(path)
                # Another selection may have fields where this one has none, or more of them.
                origins += [] if path in self._environment.fields else [self._selection]
            elif source.object.startswith(_DESIRED):
                origins += self._resource.sources_near(path)
        return union(sources, *origins)

    def step_trace(self, response: Response) -> StepTrace:
        resources = dict(self._resources)
        desired = response.desired.resources if response.desired is not None else {}
        before = self._request.desired.resources
        for name, resource in desired.items():
            if name not in resources and resource is not before.get(name):
                details = detail_traces(self._request.input or {})
                resources[name] = {
                    leaf: details.get(leaf, _CONNECTION_SECRET) for leaf, _ in leaves(resource.object)
                }
        context = {(ENVIRONMENT_KEY, *path): trace for path, trace in self._environment.fields.items()}
        return StepTrace(resources, self._composite.fields, context)


_CONNECTION_SECRET = FieldTrace("connection details", "connectionDetails", (SourceField(REQUEST, ""),))

_DESIRED = "desired/"
"""How the names of resources begin that patches of a native environment read."""

_SOURCE_OBJECTS = {FROM_COMPOSITE: COMPOSITE, FROM_ENVIRONMENT: ENVIRONMENT, FROM_COMPOSED: "observed/{}"}


def _observed_trace(name: str, leaf: Path) -> FieldTrace:
    source = SourceField(f"observed/{name}", paths.to_string(leaf))
    return FieldTrace("kept as observed, because a patch failed", "", (source,))


def _note_nulls(traced: TracedObject, target: Any, place: Path, trace: FieldTrace) -> None:
    """A list that grew has nulls before the new item."""
    for length, segment in enumerate(place):
        if isinstance(segment, int):
            for index, item in enumerate(_value_at(target, place[:length])):
                if item is None:
                    traced.fields.setdefault((*place[:length], index), trace)


def _parsed(path: str) -> Path | None:
    try:
        return paths.parse(path)
    except PathError:
        return None


def _narrowed(source: SourceField, below: Path) -> SourceField:
    """The part of a copied source that one field comes from."""
    if not below:
        return source
    return source._replace(path=paths.to_string((*paths.parse(source.path), *below)))


def _expanded(target: Any, path: str, kind: str) -> list[Path]:
    """Where a patch writes."""
    try:
        if "[*]" in path and kind not in COMBINE_TYPES:
            return [paths.parse(place) for place in paths.expand(target, path)]
        return [paths.parse(path)]
    except PathError:
        return []


def _value_at(target: Any, path: Path) -> Any:
    """The value at a path, or None."""
    try:
        for segment in path:
            target = target[segment]
    except (KeyError, IndexError, TypeError):
        return None
    return target
