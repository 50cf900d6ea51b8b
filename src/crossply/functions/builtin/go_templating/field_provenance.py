"""Tracing: which line of the template printed which field, and which data that depends on.

The template is compiled and rendered once more, with a tracer; the ordinary engine knows nothing of it.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from crossply.compose.function_messages import Request
from crossply.functions.builtin.extra_resource_traces import resource_traces
from crossply.functions.builtin.go_templating import meta_kinds
from crossply.functions.builtin.go_templating.engine.errors import TemplateError
from crossply.functions.builtin.go_templating.engine.limits import Budget, LimitExceeded
from crossply.functions.builtin.go_templating.engine.nodes import Source
from crossply.functions.builtin.go_templating.engine.taints import Atom, Taint
from crossply.functions.builtin.go_templating.engine.traced_render_state import (
    TracedOutput,
    Tracer,
    TracingRender,
)
from crossply.functions.builtin.go_templating.engine.tracing_compile_scope import TracingScope
from crossply.functions.builtin.go_templating.field_taints import DocumentText, FieldTaint, map_document
from crossply.functions.builtin.go_templating.input import Input, InputError, read_input
from crossply.functions.builtin.go_templating.manifests import (
    RESOURCE_NAME,
    ManifestError,
    annotations_of,
    read_manifests,
    rendered_documents,
)
from crossply.functions.builtin.go_templating.program import (
    FUNCTIONS,
    NAME,
    compile_source,
    missing_key,
)
from crossply.functions.builtin.go_templating.response_builder import (
    CONTEXT_KEY,
    ResponseBuilder,
    without_own_annotations,
)
from crossply.functions.builtin.go_templating.template_data import data_of
from crossply.functions.builtin.go_templating.template_sources import (
    SourceError,
    template_parts,
    template_text,
)
from crossply.functions.builtin.object_field_traces import as_conditions, leaves, union
from crossply.functions.field_provenance import (
    COMPOSITE,
    CONDITION,
    CONTEXT,
    DESIRED_COMPOSITE,
    ENVIRONMENT,
    ENVIRONMENT_KEY,
    REQUEST,
    VALUE,
    FieldTrace,
    FieldTraces,
    Path,
    SourceField,
    StepTrace,
)
from crossply.values import Object
from crossply.values.field_path import to_string


def trace(request: Request) -> StepTrace | None:
    """Trace function-go-templating; None for a request that it refuses."""
    try:
        step_input = read_input(request)
        template = template_text(request, step_input, os.environ)
        output = traced_output(request, step_input, template)
        manifests = list(_manifests(output))
    except (InputError, SourceError, TemplateError, ManifestError, LimitExceeded, RecursionError):
        return None
    return _Fields(request, step_input, template).of(manifests)


def traced_output(request: Request, step_input: Input, template: str) -> TracedOutput:
    """Render a template with a tracer; the text is the one that the function renders."""
    data = data_of(request)
    tracer = Tracer(data)
    scope_of = partial(TracingScope, tracer)
    program = compile_source(Source(NAME, template), FUNCTIONS, *step_input.delimiters, scope_of=scope_of)
    options = missing_key(step_input.options)
    TracingRender(tracer, program.name, program.templates, options, Budget()).main(data)
    return tracer.outputs[0]


class _Manifest(NamedTuple):
    """A manifest, and what its fields depend on."""

    object: Object
    taints: dict[Path, FieldTaint]


def _manifests(output: TracedOutput) -> Iterator[_Manifest]:
    text = output.text
    documents = rendered_documents(text)
    if documents is None:
        everything = map_document(output, DocumentText(0, text))[()]
        yield from (_Manifest(manifest, {(): everything}) for manifest in read_manifests(text))
        return
    starts = [0]
    starts += [at + 1 for at, character in enumerate(text) if character == "\n"]
    for line, piece, manifest in documents:
        yield _Manifest(manifest, map_document(output, DocumentText(starts[line - 1], piece)))


class _Fields:
    """Makes traces of the taints of manifests."""

    def __init__(self, request: Request, step_input: Input, template: str) -> None:
        self._builder = ResponseBuilder(request)
        self._parts = template_parts(step_input, template, os.environ)
        self._template = template

    def _place(self, at: int) -> str:
        """` NAME, line 3`; a step with one template has no name for it."""
        part = self._parts[bisect_right(self._parts, at, key=lambda part: part.start) - 1]
        line = self._template.count("\n", part.start, at) + 1
        return f" {part.name}, line {line}" if part.name else f", line {line}"

    def of(self, manifests: list[_Manifest]) -> StepTrace:
        traces = StepTrace({}, {}, {})
        requiring: tuple[SourceField, ...] = ()
        for manifest in manifests:
            obj = manifest.object
            name = annotations_of(obj).get(RESOURCE_NAME)
            if self._builder.is_status(obj):
                deciding = self._deciding(manifest, ("apiVersion",), ("kind",))
                fields = self._fields(manifest, deciding)
                traces.composite.update(
                    {path: field for path, field in fields.items() if path[0] == "status"}
                )
            elif obj.get("apiVersion") == meta_kinds.META_VERSION:
                if obj.get("kind") == "Context":
                    fields = self._fields(manifest, ())
                    traces.context.update({p[1:]: field for p, field in fields.items() if p[0] == "data"})
                elif obj.get("kind") == "ExtraResources":
                    fields = self._fields(manifest, ())
                    requiring = union(requiring, *(field.sources for field in fields.values()))
            elif name is not None:
                deciding = self._deciding(manifest, ("metadata", "annotations", RESOURCE_NAME))
                composed = _Manifest(without_own_annotations(obj), manifest.taints)
                traces.resources[name] = self._fields(composed, deciding)
        traces.context.update(self._required(as_conditions(requiring)))
        return traces

    def _required(self, conditions: tuple[SourceField, ...]) -> FieldTraces:
        """The traces of the required resources, which the function puts into the context."""
        request, traces = self._builder.request, FieldTraces()
        for groups in (request.extra_resources, request.required_resources):
            for name, group in groups.items():
                for index, resource in enumerate(group):
                    place = (CONTEXT_KEY, name, "items", index, "resource")
                    traces |= resource_traces(place, resource.object, "", conditions)
        return traces

    def _deciding(self, manifest: _Manifest, *paths: Path) -> tuple[SourceField, ...]:
        """What decides which resource a manifest is."""
        taints = [_nearest(manifest.taints, path) for path in paths]
        sources = [_source_fields(taint.value, taint.control) for taint in taints]
        return as_conditions(union(*sources))

    def _fields(self, manifest: _Manifest, deciding: tuple[SourceField, ...]) -> FieldTraces:
        fields = {}
        for path, _ in leaves(manifest.object):
            taint = _nearest(manifest.taints, path)
            place = self._place(taint.at)
            sources = union(_source_fields(taint.value, taint.control), deciding)
            fields[path] = FieldTrace(f"template{place}", place.strip(" ,"), sources)
        return fields


def _nearest(taints: dict[Path, FieldTaint], path: Path) -> FieldTaint:
    return next(taints[path[:length]] for length in range(len(path), -1, -1) if path[:length] in taints)


def _source_fields(value: Taint, control: Taint) -> tuple[SourceField, ...]:
    """The sources of a field: first those of its value, then those that decide about it."""
    conditions = {atom for atom in control if atom not in value}
    fields = [_source(atom, VALUE) for atom in sorted(value, key=_order)]
    fields += [_source(atom, CONDITION) for atom in sorted(conditions, key=_order)]
    return tuple(dict.fromkeys(field for field in fields if field is not None))


def _order(atom: Atom) -> list[str]:
    return [*map(str, atom.path), atom.use]


def _source(atom: Atom, use: str) -> SourceField | None:
    """The object and the path of a field; None for what the Composition itself says."""
    if atom.path[:1] in (("input",), ("meta",)):
        return None
    name, path = _object(atom.path)
    return SourceField(name, to_string(path), use if atom.use == VALUE else atom.use)


def _object(path: Path) -> tuple[str, Path]:
    if len(path) > 1 and path[0] == "context":
        return (ENVIRONMENT, path[2:]) if path[1] == ENVIRONMENT_KEY else (CONTEXT, path[1:])
    if path[:2] == ("observed", "composite"):
        return _resource(COMPOSITE, path[2:])
    if path[:2] == ("desired", "composite"):
        return _resource(DESIRED_COMPOSITE, path[2:])
    if len(path) > 2 and path[0] in ("observed", "desired") and path[1] == "resources":
        return _resource(f"{path[0]}/{path[2]}", path[3:])
    if len(path) > 1 and path[0] in ("requiredResources", "extraResources"):
        return f"extra/{path[1]}", path[3:]
    if len(path) > 1 and path[0] == "credentials":
        return f"credentials/{path[1]}", ()
    return REQUEST, path


def _resource(name: str, path: Path) -> tuple[str, Path]:
    if path[:1] == ("connectionDetails",):
        return f"connection details of {name}", path[1:]
    return name, path[1:]
