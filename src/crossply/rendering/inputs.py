"""Loads the inputs of `render`: the composite resource, Composition, functions and other resources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from crossply.compose.engine_field_paths import MODERN, Machinery, machinery_at
from crossply.compose.object_metadata import name_of, text_in
from crossply.compose.selection import match_labels
from crossply.errors import CrossplyError
from crossply.kinds.composition import Composition, Step, parse_composition
from crossply.kinds.composition_defaults import PIPELINE
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.kinds.fields import KindError
from crossply.manifests.files import SourceError, first_document, object_of, read_documents
from crossply.values import Object
from crossply.values.api_version import api_group
from crossply.values.yaml import Document

_COMPOSITIONS = tuple(f"apiextensions.crossplane.io/{version}" for version in ("v1", "v1alpha1", "v2alpha1"))
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
    prefix = f'cannot load composite resource from "{path}"'
    purpose = f"{prefix}: cannot unmarshal composite resource YAML"
    document = first_document(path, purpose, f"{prefix}: cannot read composite resource file")
    return object_of(document, purpose)


def load_composition(path: str) -> CompositionFile:
    """The Composition to render with, in any accepted spelling."""
    prefix = f'cannot load Composition from "{path}"'
    purpose = f"{prefix}: cannot unmarshal composition resource YAML"
    document = first_document(path, purpose, f"{prefix}: cannot read composition file")
    return composition_in(document, prefix, purpose)


def composition_in(document: Document, prefix: str, purpose: str) -> CompositionFile:
    """The Composition in a document; `prefix` and `purpose` begin the error messages."""
    value = document.value
    if not _is_composition(value):
        from crossply.rendering.go_type_errors import check_composition

        check_composition(document, purpose)
        value = value or {}
        raise SourceError(
            f"{prefix}: not a composition: {text_in(value, 'kind')}/{name_of(value)}",
            place=f"{document.source}:{document.line}",
            hint=f"expected kind Composition of {_COMPOSITIONS[0]}",
        )
    try:
        return CompositionFile(document, parse_composition(value))
    except KindError as problem:
        raise _misshapen(document, problem, purpose) from None


def _is_composition(value: Any) -> bool:
    return isinstance(value, dict) and (
        text_in(value, "kind") == "Composition" and text_in(value, "apiVersion") in _COMPOSITIONS
    )


def _misshapen(document: Document, problem: KindError, purpose: str) -> CrossplyError:
    """The error for an invalid Composition: Crossplane's own, if Crossplane rejects it too."""
    from crossply.rendering.go_type_errors import check_composition

    place = _place_of(document, str(problem))
    try:
        check_composition(document, purpose, ours=str(problem))
    except SourceError as refusal:
        return refusal.replace(place=place)
    problem = problem.at(place)
    field = str(problem).partition(": ")[0]
    if field == "spec.mode":
        return _not_a_pipeline(name_of(document.value), place, str(problem))
    if field.endswith(".input"):
        return _input_of_wrong_type(document, place, str(problem))
    return problem.within(purpose)


def _input_of_wrong_type(document: Document, place: str, hint: str) -> RenderRefused:
    """Any JSON passes for an input until the step runs, so Crossplane finds out late."""
    from crossply.values.gojson import dumps

    pipeline = document.value["spec"]["pipeline"]
    bad_step = next(step for step in pipeline if not isinstance(step.get("input"), dict | None))
    token = "[" if isinstance(bad_step["input"], list) else dumps(bad_step["input"])
    return RenderRefused(
        "cannot render composite resource: reconcile failed: cannot compose resources: cannot unmarshal "
        f'input for Composition pipeline step "{bad_step.get("step", "")}": proto: syntax error (line 1:1): '
        f"unexpected token {token}",
        place=place,
        hint=hint,
    )


def _place_of(document: Document, message: str) -> str:
    """The place of the field that a message begins with."""
    from crossply.values.field_path import PathError, parse

    try:
        line = document.locate(parse(message.partition(": ")[0]))
    except PathError:
        line = None
    return f"{document.source}:{line or document.line}"


def _not_a_pipeline(name: str, place: str, hint: str) -> RenderRefused:
    return RenderRefused(
        "render only supports Composition Function pipelines: "
        f'Composition "{name}" must use spec.mode: Pipeline',
        place=place,
        hint=hint,
    )


def check_fit(xr: Object, file: CompositionFile) -> None:
    """Refuse a Composition for another kind, with other labels, or without anything to render."""
    composition = file.composition
    _check_type(xr, file)
    # The definition is not known yet, so a selector is looked for where modern resources have it.
    labels = match_labels(MODERN.read(xr, "compositionSelector"))
    for key, value in labels.items():
        if key not in composition.labels:
            raise RenderRefused(
                f'composition "{composition.name}" is missing required label "{key}"',
                place=_line_of(file, "metadata"),
                hint=_SELECTOR_HINT,
            )
        if composition.labels[key] != value:
            raise RenderRefused(
                f'composition "{composition.name}" has incorrect value for label "{key}": '
                f'want "{value}", got "{composition.labels[key]}"',
                place=_line_of(file, "metadata", "labels", key),
                hint=_SELECTOR_HINT,
            )
    if composition.mode != PIPELINE and not any(map(is_older_step, composition.steps)):
        raise _not_a_pipeline(composition.name, _line_of(file, "spec"), _MODE_HINT)


def require_explicit_mode(file: CompositionFile) -> None:
    """Refuse a pipeline that does not state its mode, as Crossplane's `render` does (and nothing else)."""
    if file.composition.mode == PIPELINE and not file.document.value["spec"].get("mode"):
        raise _not_a_pipeline(file.composition.name, _line_of(file, "spec"), _MODE_HINT)


_MODE_HINT = "set spec.mode: Pipeline, or give spec.resources for mode: Resources"
_SELECTOR_HINT = "the composite resource's spec.crossplane.compositionSelector.matchLabels asks for it"


def _line_of(file: CompositionFile, *field: str) -> str:
    document = file.document
    return f"{document.source}:{document.locate(field) or document.line}"


def is_older_step(step: Step) -> bool:
    """Steps that stand for `resources`, `to` or `functions`, the spellings from before pipelines."""
    return step.function == NATIVE_FUNCTION or step.container is not None


def called_functions(composition: Composition) -> set[str]:
    """The names of the Functions that the steps of a pipeline call."""
    return {step.function for step in composition.steps if not is_older_step(step)}


def _check_type(xr: Object, file: CompositionFile) -> None:
    composite = file.composition.composite
    kind, api_version = text_in(xr, "kind"), text_in(xr, "apiVersion")
    if composite.kind != kind:
        sentence = f"composition's compositeTypeRef.kind ({composite.kind}) does not match XR's kind ({kind})"
    elif composite.api_version != api_version:
        sentence = (
            f"composition's compositeTypeRef.apiVersion ({composite.api_version}) does not match XR's "
            f"apiVersion ({api_version})"
        )
    else:
        return
    raise RenderRefused(
        sentence,
        place=_line_of(file, "spec", "compositeTypeRef"),
        hint="render with the Composition of this kind, or correct its compositeTypeRef",
    )


def load_functions(path: str) -> list[Object]:
    """The Function packages that the pipeline names."""
    prefix = f'cannot load functions from "{path}"'
    purpose = "cannot parse YAML Function manifest"
    functions = []
    for document in _within(prefix, path, purpose):
        function = document.value
        if not _is_ordinary_function(function):
            from crossply.rendering.go_type_errors import as_function

            function = as_function(document, f"{prefix}: {purpose}")
        if text_in(function, "kind") != "Function" or text_in(function, "apiVersion") not in _FUNCTIONS:
            raise SourceError(
                f"{prefix}: not a function: {text_in(function, 'kind')}/{name_of(function)}",
                place=f"{document.source}:{document.line}",
                hint=f"expected kind Function of {_FUNCTIONS[0]}",
            )
        functions.append(function)
    return functions


def _is_ordinary_function(value: Any) -> bool:
    """Whether all that we read of a Function has its right type."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict) or not isinstance(value.get("spec"), dict):
        return False
    annotations = metadata.get("annotations", {})
    return (
        isinstance(metadata.get("name"), str)
        and isinstance(value["spec"].get("package"), str)
        and isinstance(annotations, dict)
        and all(isinstance(text, str) for text in annotations.values())
    )


def _within(prefix: str, path: str, purpose: str) -> list[Document]:
    try:
        return read_documents(path, purpose)
    except CrossplyError as problem:
        raise problem.within(prefix) from None


def load_objects(path: str, noun: str, purpose: str) -> list[Object]:
    """Any objects: observed resources, required resources."""
    prefix = f'cannot load {noun} from "{path}"'
    documents = _within(prefix, path, purpose)
    return [object_of(document, f"{prefix}: {purpose}") for document in documents]


def load_required(paths: Iterable[str] | None, noun: str) -> list[Object]:
    """Objects that functions may require, of several files."""
    objects = []
    for path in paths or ():
        objects += load_objects(path, noun, "cannot parse YAML resource manifest")
    return objects


def load_schemas(path: str | None) -> list[Object]:
    if not path:
        return []
    from crossply.rendering import required_schemas as render_schemas

    return render_schemas.load_schemas(path)


def load_secrets(path: str) -> list[Object]:
    """Secrets for functions' credentials; their kind may be left out, their data must be base64."""
    from crossply.rendering.go_type_errors import as_secret

    prefix = f'cannot load secrets from "{path}"'
    purpose = "cannot parse YAML secret manifest"
    return [as_secret(document, f"{prefix}: {purpose}") for document in _within(prefix, path, purpose)]


def load_definition(path: str) -> Object:
    """The definition of the composite resource's kind."""
    from crossply.rendering.go_type_errors import check_definition

    prefix = f'cannot load XRD from "{path}"'
    purpose = f"{prefix}: cannot unmarshal XRD YAML"
    document = first_document(path, purpose, f"{prefix}: cannot read XRD file")
    check_definition(document, purpose)
    return document.value or {}


def machinery_for(xr: Object, definition: Object | None) -> Machinery:
    """The paths of the engine's fields by the XRD, or those of modern XRs without one."""
    if definition is None:
        return MODERN
    from crossply.kinds.definition import parse_definition

    defined = parse_definition(definition)
    group = api_group(text_in(xr, "apiVersion"))
    if (defined.group, defined.names.kind) != (group, text_in(xr, "kind")):
        raise RenderRefused(
            "cannot render composite resource: cannot select composite resource schema: "
            f'CompositeResourceDefinition "{defined.name}" (composite Group={defined.group} '
            f"Kind={defined.names.kind}) does not match the input XR's Group={group} "
            f"Kind={text_in(xr, 'kind')}",
            hint="give --xrd the definition of the composite resource's own kind",
        )
    return machinery_at(defined.machinery)
