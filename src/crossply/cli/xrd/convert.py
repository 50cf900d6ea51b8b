"""`crossply xrd convert`: convert an XRD to its CRDs, or to JSON Schemas for editors."""

from __future__ import annotations

import os
from typing import NamedTuple

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.input_output_flags import write_output
from crossply.errors import CrossplyError
from crossply.kinds.application_and_infrastructure_definitions import (
    FIRST_DESIGN,
    PUBLICATION,
    parse_publication,
)
from crossply.kinds.definition import LEGACY_CLUSTER
from crossply.kinds.definition_go_types import DefinitionDecodeError, decode_xrd
from crossply.manifests.file_io import ConvertError, make_directory, read_input, write_file
from crossply.schema.definition_crds import composite_crd, crds_of
from crossply.values import Object
from crossply.values.yaml import YamlError, dump, read_documents, read_first

_GROUP = "apiextensions.crossplane.io"
_XRD_TYPES = [f"{_GROUP}/{version}, Kind=CompositeResourceDefinition" for version in ("v1", "v2")]


class Output(NamedTuple):
    """One file of the result."""

    name: str
    text: str


def run(invocation: Invocation) -> int:
    """Read a definition, convert it and write the result."""
    text = read_input(invocation["input-file"], invocation.stdin)
    crds = to_crds(text, invocation["input-file"])
    outputs = _json_outputs(crds) if invocation["format"] == "jsonschema" else _yaml_outputs(crds)
    if invocation["output-dir"]:
        _write_directory(invocation["output-dir"], outputs)
        return 0
    if invocation["format"] == "jsonschema" and len(outputs) > 1:
        advice = "use --output-dir to write one file per schema"
        raise ConvertError(f"cannot write {len(outputs)} JSON Schemas to a single output; {advice}")
    whole = "".join(output.text for output in outputs)
    write_output(invocation, whole)
    return 0


def to_crds(text: bytes, source: str) -> list[Object]:
    """The CRDs of the definition that a file starts with."""
    try:
        definition = read_first(text, source).value
    except YamlError as problem:
        sentence = f"cannot unmarshal XRD: error converting YAML to JSON: {problem}"
        raise ConvertError(sentence, place=problem.place, hint=problem.hint) from None
    if _is_first_design(definition):
        return _first_design_crds(definition, text, source)
    typed = _decode(definition)
    xrd_type = _type_of(typed)
    if xrd_type not in _XRD_TYPES:
        raise ConvertError(f"input is not one of [{' '.join(_XRD_TYPES)}]; got {xrd_type}")
    try:
        return crds_of(_as_a_file(definition))
    except CrossplyError as problem:
        name = typed["metadata"].get("name", "")
        sentence = f'cannot derive CRDs from XRD "{name}": {problem}'
        raise ConvertError(sentence, place=source, hint=problem.hint) from None


def _as_a_file(definition: Object) -> Object:
    """The definition as Crossplane's command line reads it: no API server has defaulted its scope.

    So a v2 definition without a scope converts as a legacy one, although a control plane would make it
    Namespaced.
    """
    spec = definition.get("spec")
    if not isinstance(spec, dict) or spec.get("scope"):
        return definition
    return {**definition, "spec": {**spec, "scope": LEGACY_CLUSTER}}


def _decode(definition: Object) -> Object:
    try:
        return decode_xrd(definition)
    except DefinitionDecodeError as problem:
        cause = "error unmarshaling JSON: while decoding JSON"
        raise ConvertError(f"cannot unmarshal XRD: {cause}: {problem}") from None


def _type_of(typed: Object) -> str:
    """The group, version and kind of an object, as Go prints them."""
    group, slash, version = typed.get("apiVersion", "").rpartition("/")
    if "/" in group or (slash and not version and not group):
        group = version = ""
    return f"{group}/{version}, Kind={typed.get('kind', '')}"


def _is_first_design(definition: object) -> bool:
    if not isinstance(definition, dict) or definition.get("kind") not in FIRST_DESIGN:
        return False
    return definition.get("apiVersion") == f"{_GROUP}/v1alpha1"


def _first_design_crds(definition: Object, text: bytes, source: str) -> list[Object]:
    """The CRD of a definition of the first design, and of the requirement if the same file publishes it."""
    from crossply.schema.infrastructure_definition_crds import requirement_crd

    crds = [composite_crd(definition)]
    for document in read_documents(text, source):
        if isinstance(document.value, dict) and document.value.get("kind") == PUBLICATION:
            publication = parse_publication(document.value)
            if publication.definition == crds[0]["metadata"]["name"]:
                crds.append(requirement_crd(document.value, definition))
    return crds


def _yaml_outputs(crds: list[Object]) -> list[Output]:
    return [Output(f"{crd['metadata']['name']}.yaml", f"---\n{dump(crd)}") for crd in crds]


def _json_outputs(crds: list[Object]) -> list[Output]:
    from crossply.schema.crd_jsonschema import json_schemas, to_text

    schemas = [schema for crd in crds for schema in json_schemas(crd)]
    return [Output(schema.file_name, f"{to_text(schema.schema)}\n") for schema in schemas]


def _write_directory(directory: str, outputs: list[Output]) -> None:
    make_directory(directory, f'cannot create output directory "{directory}"')
    for output in outputs:
        path = os.path.join(directory, output.name)
        write_file(path, output.text, f'cannot write output file "{path}"')


COMMAND = Command(
    "convert",
    "Convert an XRD to its CRDs.",
    run,
    arguments=(
        Argument(
            "input-file",
            "The XRD YAML file to convert, or '-' for stdin.",
            kind="path",
            optional=True,
            default="-",
        ),
    ),
    flags=(
        Flag(
            "output-file",
            "The file to write the generated CRD YAML to. Legacy XRDs produce a multi-doc YAML stream "
            "(XR CRD + Claim CRD).",
            short="o",
            kind="path",
            placeholder="PATH",
            exclusive="output",
        ),
        Flag(
            "output-dir",
            "A directory to write the generated CRDs to. Each CRD gets a separate file named after the CRD.",
            kind="path",
            placeholder="DIR",
            exclusive="output",
        ),
        Flag(
            "format",
            "Write JSON Schema files instead of CRDs. Useful for YAML language server integration.",
            kind="string",
            default="crd",
            choices=("crd", "jsonschema"),
        ),
    ),
    description=(
        "Shows the CustomResourceDefinitions of an XRD: one for the composite resource, and one "
        "for its claim\n"
        "if claims are offered. The kinds of the first design are converted too; a file that "
        "also publishes\n"
        "an InfrastructureDefinition gets the CRD of the requirement."
    ),
    examples=(
        "crossply xrd convert xrd.yaml",
        "crossply xrd convert xrd.yaml --output-dir crds",
        "crossply xrd convert xrd.yaml --format=jsonschema --output-dir schemas",
    ),
)
