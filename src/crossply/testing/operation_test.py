"""Runs OperationTests of `up`: an Operation is rendered once, and what it renders is asserted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from time import perf_counter

from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.object_metadata import name_of
from crossply.compose.operation_rendering import OperationRendering
from crossply.errors import CrossplyError
from crossply.kinds.operation import with_watched
from crossply.manifests.manifest import Manifest
from crossply.project import file_in
from crossply.project.folder import ProjectFolder
from crossply.rendering import inputs
from crossply.rendering.available_functions import available_functions
from crossply.rendering.operation_inputs import functions_of_operation, load_operation, operation_in
from crossply.rendering.output import in_order
from crossply.rendering.running_functions import caller, running
from crossply.testing.expectation_check import unmet_assertions
from crossply.testing.report import finding_of
from crossply.testing.results import BROKEN, FAILED, PASSED, CaseResult, Finding
from crossply.testing.suite_field_reader import Reader
from crossply.testing.upbound_tests import (
    Place,
    assertions_in,
    context_of,
    lenient,
    needed,
    one_of,
    project_of,
    timeout_of,
)
from crossply.validation.line_numbers import line_of
from crossply.values import Object
from crossply.values.yaml import Document

_RESOURCES = "cannot parse YAML resource manifest"


def run_operation_test(document: Document) -> CaseResult:
    """The result of a test. Whatever is wrong with it is one, too."""
    name = name_of(document.value) or "(without a name)"
    place = _place(document, ("metadata", "name"))
    started = perf_counter()
    try:
        findings = tuple(_findings(document))
        status = FAILED if findings else PASSED
    except CrossplyError as problem:
        findings, status = (Finding(str(problem), problem.place or place, hint=problem.hint),), BROKEN
    return CaseResult(name, status, place, perf_counter() - started, findings)


def _findings(document: Document) -> Iterator[Finding]:
    spec = lenient(document.value.get("spec"), ("spec",))
    folder = project_of(document.source)
    assertions = assertions_in(spec)
    for mismatch in unmet_assertions(assertions, _rendered(spec, folder, document)):
        yield finding_of(mismatch, _place(document, mismatch.path), 0)


def _rendered(spec: Reader, folder: ProjectFolder, document: Document) -> list[Object]:
    """The Operation, what it applies, its results and its context."""
    place = Place(folder.root, document.source)
    source = needed(spec, "operation", place)
    if isinstance(source, str):
        operation = load_operation(_below(place, source))
    else:
        operation = operation_in(Document(source, document.source, document.line))
    required = [
        *spec.fields.items("requiredResources"),
        *_loaded(
            spec, "requiredResourcesPath", place, lambda path: inputs.load_required([path], "resources")
        ),
    ]
    watched = one_of(spec, "watchedResource", place)
    if watched is not None:
        (watched,) = (
            [watched]
            if isinstance(watched, dict)
            else inputs.load_objects(_below(place, watched), "watched resource", _RESOURCES)[:1]
        )
        operation = with_watched(operation, watched)
        required.append(watched)
    secrets = _loaded(spec, "functionCredentialsPath", place, inputs.load_secrets)
    called = functions_of_operation(operation)
    functions = available_functions([], called, file_in(folder.root), _best_tag)
    with running(functions, None) as runners:
        call = caller(runners, timeout_of(spec))
        rendering = OperationRendering(InMemoryCluster(required, secrets), call)
        rendered = rendering.run(operation, context_of(spec))
    objects = [*([] if rendered.operation is None else [rendered.operation]), *rendered.applied]
    return in_order(objects, rendered.events, rendered.context)


def _loaded(spec: Reader, field: str, place: Place, load: Callable[[str], list[Object]]) -> list[Object]:
    path = spec.fields.text(field)
    return load(_below(place, place.located(path))) if path else []


def _below(place: Place, path: str) -> str:
    return os.path.normpath(os.path.join(place.project, path))


def _place(document: Document, path: tuple[str | int, ...]) -> str:
    return f"{document.source}:{line_of(Manifest(document.value, document), path)}"


def _best_tag(source: str, constraint: str) -> str:
    from crossply.xpkg.user_image_pull import ProcessUser, best_tag

    return best_tag(ProcessUser(os.environ, sys.stderr), source, constraint)
