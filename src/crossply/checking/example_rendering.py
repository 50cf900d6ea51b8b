"""Examples rendered with their Compositions; what they compose is validated, if its kind is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crossply.checking.compositions import CheckedComposition
from crossply.checking.directory_proximity import by_distance
from crossply.checking.example_discovery import Example, named
from crossply.checking.finding import CheckError, Finding, InvalidObject, Place, error, warning
from crossply.checking.known_kinds import KnownKinds
from crossply.checking.object_validation import subject
from crossply.checking.step_functions import why_not_run
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.in_memory_reconcile import Rendered, Rendering
from crossply.compose.object_metadata import RESOURCE_NAME_ANNOTATION, annotations_of, text_in
from crossply.compose.prepared_composition import prepare
from crossply.errors import CrossplyError
from crossply.functions.builtin.module_registry.module_fetch import without_network
from crossply.manifests.manifest import Manifest
from crossply.provenance.call_recorder import CallRecorder, absent_requirements
from crossply.rendering.required_schemas import apply_definition_defaults
from crossply.rendering.running_functions import caller, running
from crossply.schema.field_errors import REQUIRED
from crossply.validation.line_numbers import line_of
from crossply.validation.resource_validation import Finding as ValidationFinding
from crossply.values import Object
from crossply.values.yaml import Document

_SECONDS = 60.0


class Incomplete(CheckError):
    """An example could not be rendered, perhaps only because files do not have what its functions require."""

    code = "CP-558"


class RenderingContext(NamedTuple):
    """What the examples of a unit are rendered with."""

    kinds: KnownKinds
    manifests: list[Manifest]


def skip_reason(checked: CheckedComposition) -> str:
    """Why nothing is rendered with a Composition; empty if it is."""
    reasons = (why_not_run(step, checked.functions.get(step.function)) for step in checked.composition.steps)
    return next(filter(None, reasons), "")


def rendering_findings(
    example: Example, xr: Object, checked: CheckedComposition, context: RenderingContext
) -> Iterator[Finding]:
    """What goes wrong when an example is rendered with a Composition."""
    place = Place(example.file, line_of(example.manifest, ()))
    recorder = CallRecorder()
    prefix = f"cannot render {subject(example.manifest)} with {checked.source}"
    try:
        rendered = _render(example, xr, checked, recorder, context.manifests)
    except CrossplyError as problem:
        missing = [*absent_requirements(recorder.calls())]
        if missing:
            reason = Incomplete(f"{prefix}: {problem}", hint=f"{missing[0]}: add it to the files")
            yield warning(reason, place)
        else:
            yield error(problem.replace(place="").within(prefix), place)
        return
    yield from _composed_findings(rendered, checked, context.kinds, place)


def _render(
    example: Example,
    xr: Object,
    checked: CheckedComposition,
    recorder: CallRecorder,
    manifests: Iterable[Manifest],
) -> Rendered:
    # A composite resource is read at the version that Compositions refer to.
    xr = {**named(xr), "apiVersion": checked.composition.composite.api_version}
    definitions = [] if example.defined is None else [example.defined.manifest.value]
    for definition in definitions:
        xr = apply_definition_defaults(xr, definition)
    objects = [
        item.value for item in by_distance(example.file, manifests, _file) if item is not example.manifest
    ]
    secrets = [obj for obj in objects if text_in(obj, "kind") == "Secret"]
    cluster = InMemoryCluster(objects, secrets, (), lambda: definitions)
    with running(checked.functions.values(), None) as runners, without_network():
        call = recorder.recorded(caller(runners, _SECONDS))
        return Rendering(example.machinery, cluster, call).run(xr, prepare(checked.composition), [], {})


def _file(manifest: Manifest) -> str:
    return manifest.document.source


def _composed_findings(
    rendered: Rendered, checked: CheckedComposition, kinds: KnownKinds, place: Place
) -> Iterator[Finding]:
    for composed in rendered.composed:
        name = annotations_of(composed).get(RESOURCE_NAME_ANNOTATION, "")
        outcome = kinds.validate(Manifest(composed, Document(composed, place.file, place.line)))
        for finding in outcome.findings:
            problem = InvalidObject(
                f'composed resource "{name}" ({text_in(composed, "kind")}) of {checked.source}: '
                f"{finding.message}",
                hint="correct what the Composition makes of this example",
            )
            yield error(problem, place) if _is_certain(finding) else warning(problem, place)


def _is_certain(finding: ValidationFinding) -> bool:
    """Whether later renderings will have it, too: a missing field may get its value once others are there."""
    return finding.type in ("schema", "unknownField") and (
        finding.error is None or finding.error.kind != REQUIRED
    )
