"""Loading what `render` is given: the composite resource, its Composition, functions and their world."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.cli.sources import SourceError, first_document, object_of, read_documents
from crossply.compose.machinery import LEGACY, MODERN, Machinery
from crossply.compose.metadata import name_of, text_in
from crossply.compose.selection import match_labels
from crossply.errors import CrossplyError
from crossply.kinds.composition import NATIVE_FUNCTION, Composition, Step, parse_composition
from crossply.kinds.fields import KindError
from crossply.values import Object
from crossply.values.yaml import Document

_COMPOSITIONS = ("apiextensions.crossplane.io/v1", "apiextensions.crossplane.io/v1alpha1")
_V2 = "apiextensions.crossplane.io/v2"
_FUNCTIONS = ("pkg.crossplane.io/v1", "pkg.crossplane.io/v1beta1")


class RenderRefused(CrossplyError):
    """The composite resource and the Composition do not belong together, or cannot be rendered."""

    code = "CP-520"


class CompositionFile(NamedTuple):
    """A Composition as it was written, and as it was understood."""

    document: Document
    composition: Composition


def load_composite(path: str) -> Object:
    """The composite resource to render."""
    story = f'cannot load composite resource from "{path}"'
    purpose = f"{story}: cannot unmarshal composite resource YAML"
    document = first_document(path, purpose, f"{story}: cannot read composite resource file")
    return object_of(document, purpose)


def load_composition(path: str) -> CompositionFile:
    """The Composition to render with, in any accepted spelling."""
    story = f'cannot load Composition from "{path}"'
    purpose = f"{story}: cannot unmarshal composition resource YAML"
    document = first_document(path, purpose, f"{story}: cannot read composition file")
    value = document.value if isinstance(document.value, dict) else {}
    if text_in(value, "kind") != "Composition" or text_in(value, "apiVersion") not in _COMPOSITIONS:
        raise SourceError(
            f"{story}: not a composition: {text_in(value, 'kind')}/{name_of(value)}",
            place=f"{path}:{document.line}",
            hint=f"expected kind Composition of {_COMPOSITIONS[0]}",
        )
    try:
        return CompositionFile(document, parse_composition(value))
    except KindError as problem:
        problem.place = problem.place or _place_of(document, str(problem))
        raise problem.within(purpose) from None


def _place_of(document: Document, message: str) -> str:
    """Where the field that a message begins with is written."""
    from crossply.values.paths import PathError, parse

    try:
        line = document.locate(parse(message.partition(": ")[0]))
    except PathError:
        line = None
    return f"{document.source}:{line or document.line}"


def check_fit(xr: Object, file: CompositionFile, machinery: Machinery) -> None:
    """Refuse a Composition for another kind, with other labels, or without anything to render."""
    composition = file.composition
    _check_type(xr, composition)
    wanted = match_labels(machinery.read(xr, "compositionSelector"))
    for key, value in wanted.items():
        if key not in composition.labels:
            raise RenderRefused(f'composition "{composition.name}" is missing required label "{key}"')
        if composition.labels[key] != value:
            raise RenderRefused(
                f'composition "{composition.name}" has incorrect value for label "{key}": '
                f'want "{value}", got "{composition.labels[key]}"'
            )
    if composition.mode != "Pipeline" and not any(map(is_older_step, composition.steps)):
        raise RenderRefused(
            "render only supports Composition Function pipelines: "
            f'Composition "{composition.name}" must use spec.mode: Pipeline',
            place=f"{file.document.source}:{file.document.locate(('spec',)) or file.document.line}",
            hint="set spec.mode: Pipeline, or give spec.resources for mode: Resources",
        )


def is_older_step(step: Step) -> bool:
    """Steps that stand for `resources`, `to` or `functions`, the spellings from before pipelines."""
    return step.function == NATIVE_FUNCTION or step.container is not None


def _check_type(xr: Object, composition: Composition) -> None:
    kind, api_version = text_in(xr, "kind"), text_in(xr, "apiVersion")
    if composition.composite.kind != kind:
        raise RenderRefused(
            f"composition's compositeTypeRef.kind ({composition.composite.kind}) does not match "
            f"XR's kind ({kind})"
        )
    if composition.composite.api_version != api_version:
        raise RenderRefused(
            f"composition's compositeTypeRef.apiVersion ({composition.composite.api_version}) does not "
            f"match XR's apiVersion ({api_version})"
        )


def load_functions(path: str) -> list[Object]:
    """The Function packages that the pipeline names."""
    story = f'cannot load functions from "{path}"'
    documents = _within(story, path, "cannot parse YAML Function manifest")
    functions = []
    for document in documents:
        value = document.value if isinstance(document.value, dict) else {}
        if text_in(value, "kind") != "Function" or text_in(value, "apiVersion") not in _FUNCTIONS:
            raise SourceError(
                f"{story}: not a function: {text_in(value, 'kind')}/{name_of(value)}",
                place=f"{document.source}:{document.line}",
                hint=f"expected kind Function of {_FUNCTIONS[0]}",
            )
        functions.append(value)
    return functions


def _within(story: str, path: str, purpose: str) -> list[Document]:
    try:
        return read_documents(path, purpose)
    except CrossplyError as problem:
        raise problem.within(story) from None


def load_objects(path: str, what: str, purpose: str) -> list[Object]:
    """Any objects: observed resources, required resources."""
    story = f'cannot load {what} from "{path}"'
    documents = _within(story, path, purpose)
    return [object_of(document, f"{story}: {purpose}") for document in documents]


def load_secrets(path: str) -> list[Object]:
    """Secrets for functions' credentials; their kind may be left out, their data must be base64."""
    story = f'cannot load secrets from "{path}"'
    purpose = "cannot parse YAML secret manifest"
    secrets = []
    for document in _within(story, path, purpose):
        secret = document.value if isinstance(document.value, dict) else {}
        _check_data(secret.get("data"), f"{story}: {purpose}", document)
        secrets.append(secret)
    return secrets


def _check_data(data: Any, story: str, document: Document) -> None:
    from crossply.values.gobase64 import Base64Error, decode

    for key, value in (data if isinstance(data, dict) else {}).items():
        try:
            decode(value if isinstance(value, str) else "?")
        except Base64Error as problem:
            problem.place = f"{document.source}:{document.locate(('data', key)) or document.line}"
            raise problem.within(f"{story}: error unmarshaling JSON: while decoding JSON") from None


def load_definition(path: str) -> Object:
    """The definition of the composite resource's kind."""
    story = f'cannot load XRD from "{path}"'
    document = first_document(path, f"{story}: cannot unmarshal XRD YAML", f"{story}: cannot read XRD file")
    return document.value if isinstance(document.value, dict) else {}


def machinery_for(xr: Object, definition: Object | None) -> Machinery:
    """Legacy or modern, as the definition says; modern without one."""
    if definition is None:
        return MODERN
    spec = definition.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    names = spec.get("names")
    kind = text_in(names, "kind") if isinstance(names, dict) else ""
    group = text_in(spec, "group")
    xr_group = text_in(xr, "apiVersion").rpartition("/")[0]
    if (group, kind) != (xr_group, text_in(xr, "kind")):
        raise RenderRefused(
            "cannot render composite resource: cannot select composite resource schema: "
            f'CompositeResourceDefinition "{name_of(definition)}" (composite Group={group} Kind={kind}) '
            f"does not match the input XR's Group={xr_group} Kind={text_in(xr, 'kind')}"
        )
    scope = text_in(spec, "scope")
    legacy = scope == "LegacyCluster" or (not scope and definition.get("apiVersion") != _V2)
    return LEGACY if legacy else MODERN
