"""Tests as `up test` has them: a CompositionTest of `meta.dev.upbound.io` becomes a suite of one case.

A path in one is a path from the project's folder, or else from the folder of the test itself.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from crossply.compose.in_memory_reconcile import identify
from crossply.compose.object_metadata import (
    RESOURCE_NAME_ANNOTATION,
    annotations_of,
    metadata_of,
    name_of,
    namespace_of,
    uid_of,
)
from crossply.compose.resource_names import child_name
from crossply.kinds.upbound_project import API_VERSIONS
from crossply.project.folder import ProjectFolder, open_project
from crossply.rendering.available_functions import find_project_file
from crossply.testing.suite import Assertion, Case, CaseInputs, Expectation, Path, Round, Source, Suite
from crossply.testing.suite_field_reader import Reader, SuiteError
from crossply.values import Object
from crossply.values.api_version import api_group
from crossply.values.yaml import Document

GROUP = api_group(API_VERSIONS[0])
COMPOSITION_TEST, E2E_TEST, OPERATION_TEST = "CompositionTest", "E2ETest", "OperationTest"
KINDS = (COMPOSITION_TEST, E2E_TEST, OPERATION_TEST)
_API_VERSION = API_VERSIONS[0]
_SECONDS = 30
_SPEC = (
    *("composition", "compositionPath", "xr", "xrPath", "xrd", "xrdPath", "timeoutSeconds", "validate"),
    *("assertResources", "observedResources", "extraResources", "context", "functionCredentialsPath"),
)


def with_kinds(kind: str) -> tuple[str, ...]:
    """The kinds of tests that are run together with those of a kind: all that need no control plane."""
    return (COMPOSITION_TEST, OPERATION_TEST) if kind == COMPOSITION_TEST else (kind,)


class Place(NamedTuple):
    """Where a test is, for the paths that are written in it."""

    project: str
    """The folder of its project."""
    file: str
    """The file of the test, or its directory."""

    def located(self, path: str) -> str:
        """The path, from the folder of the test where only that exists: published tests have both forms."""
        if os.path.lexists(os.path.join(self.project, path)):
            return path
        folder = self.file if os.path.isdir(self.file) else os.path.dirname(self.file)
        beside = os.path.abspath(os.path.join(folder, path))
        return beside if os.path.lexists(beside) else path


def is_upbound_test(value: Any) -> bool:
    """Whether a document is a test of `up`, of any version and kind."""
    return (
        isinstance(value, dict)
        and value.get("kind") in KINDS
        and str(value.get("apiVersion")).startswith(f"{GROUP}/")
    )


def items_of(document: Document) -> list[Document]:
    """The tests in a document: those of its list `items`, or the document itself."""
    value = document.value
    if not isinstance(value, dict) or "kind" in value or not isinstance(value.get("items"), list):
        return [document]
    # Without a text, all that is said of an item is said of the document's first line.
    return [Document(item, document.source, document.line) for item in value["items"]]


def project_of(file: str) -> ProjectFolder:
    """The project that a test belongs to."""
    project = find_project_file(os.path.dirname(os.path.abspath(file)))
    if project is None:
        raise SuiteError(
            "a test of up belongs to a project, and there is none",
            place=file,
            hint="put it below a folder with an upbound.yaml or a crossplane-project.yaml: its paths are "
            "those from that folder",
        )
    return open_project(project)


def read_composition_test(document: Document) -> Suite:
    """The suite that a CompositionTest of `up` is."""
    root = lenient(document.value, ())
    if root.fields.raw("apiVersion") != _API_VERSION:
        raise root.fields.wrong(f"must be {_API_VERSION}", "apiVersion")
    spec = lenient(root.fields.raw("spec"), ("spec",))
    name = root.fields.object("metadata").text("name")
    folder = project_of(document.source)
    place = Place(folder.root, document.source)
    expectation = Expectation(("spec",), assertions=assertions_in(spec))
    return Suite(
        name="",
        document=document,
        cases=(Case(name or "(without a name)", ("metadata", "name"), (Round(expectation),)),),
        composition=needed(spec, "composition", place),
        xrd=one_of(spec, "xrd", place),
        xr=needed(spec, "xr", place),
        surroundings=_surroundings(spec, place),
        validate=bool(spec.fields.flag("validate")),
        timeout=timeout_of(spec),
        base=folder.root,
        is_upbound=True,
        apis=(folder.project.apis,) if os.path.isdir(os.path.join(folder.root, folder.project.apis)) else (),
        notes=tuple(
            f"spec.{key}: unknown field, ignored" for key in spec.fields.as_dict() if key not in _SPEC
        ),
    )


def lenient(value: Any, path: Path) -> Reader:
    """The reader of an object of a test: `up` ignores fields that it does not know."""
    return Reader(value, path, tuple(value) if isinstance(value, dict) else ())


def adopted(obj: Object, xr: Object) -> Object:
    """An observed resource as one of the composite resource's own.

    Published tests need not say in which namespace it is, what it is called, and by which UID it is owned.
    """
    metadata = dict(metadata_of(obj))
    owner = identify(xr)
    if namespace_of(xr):
        metadata.setdefault("namespace", namespace_of(xr))
    if not metadata.get("name"):
        prefix = metadata.get("generateName") or f"{name_of(xr)}-"
        name = annotations_of(obj).get(RESOURCE_NAME_ANNOTATION, "")
        metadata["name"] = child_name(str(prefix), uid_of(owner), name)
    references = metadata.get("ownerReferences")
    if isinstance(references, list):
        metadata["ownerReferences"] = [
            {**reference, "uid": uid_of(owner)}
            if isinstance(reference, dict) and not reference.get("uid")
            else reference
            for reference in references
        ]
    return {**obj, "metadata": metadata}


def assertions_in(spec: Reader) -> tuple[Assertion, ...]:
    path: Path = (*spec.path, "assertResources")
    items = spec.fields.items("assertResources")
    for index, item in enumerate(items):
        if not isinstance(item, dict) or not item.get("apiVersion") or not item.get("kind"):
            raise spec.fields.wrong("needs an apiVersion and a kind", f"assertResources[{index}]")
    return tuple(Assertion(item, (*path, index)) for index, item in enumerate(items))


def _surroundings(spec: Reader, place: Place) -> CaseInputs:
    fields = spec.fields
    credentials = fields.text("functionCredentialsPath")
    return CaseInputs(
        observed=tuple(fields.items("observedResources")),
        required=tuple(fields.items("extraResources")),
        credentials=(place.located(credentials),) if credentials else (),
        context=context_of(spec),
    )


def context_of(spec: Reader) -> Object:
    """The context by key. An empty list stands for none: in earlier versions of `up` it was a list."""
    return {} if spec.fields.raw("context") == [] else spec.fields.optional_dict("context") or {}


def one_of(spec: Reader, key: str, place: Place) -> Source | None:
    """An object written there, or the path of its file."""
    inline, path = spec.fields.optional_dict(key), spec.fields.text(f"{key}Path")
    if inline and path:
        raise spec.fields.wrong(f"only one of '{key}' or '{key}Path' may be specified", key)
    return inline or (place.located(path) if path else None)


def needed(spec: Reader, key: str, place: Place) -> Source:
    source = one_of(spec, key, place)
    if source is None:
        raise spec.fields.wrong(f"one of '{key}' and '{key}Path' is needed", key)
    return source


def timeout_of(spec: Reader) -> float:
    value = spec.fields.raw("timeoutSeconds")
    if value is None:
        return _SECONDS
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        raise spec.fields.wrong("must be a number of seconds, at least 1", "timeoutSeconds")
    return float(value)
