"""Compositions: valid, for a kind that is defined, of known functions, with patches of fields that exist.

The inputs of built-in functions are decoded as they are when a step runs, and told with their lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

from crossply.checking.definitions import GROUP, DefinedKind, Definitions
from crossply.checking.directory_proximity import nearest
from crossply.checking.finding import ERROR, CheckError, Finding, Place, UndefinedKind, error, warning
from crossply.checking.known_kinds import KnownKinds
from crossply.checking.object_validation import validated
from crossply.checking.patch_fields import PatchedInput, unknown_fields
from crossply.checking.step_functions import StepFunctions, builtin_of
from crossply.compose.connection_secret_key_coverage import check_contract
from crossply.errors import CrossplyError
from crossply.functions.builtin import NATIVE
from crossply.functions.builtin.step_input_check import input_problem
from crossply.kinds.composition import Composition, Step, TypeRef
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.manifests.manifest import Manifest
from crossply.rendering.inputs import CompositionFile, composition_in
from crossply.validation.line_numbers import line_of, segments
from crossply.values import Object
from crossply.values.api_version import api_group, split_api_version
from crossply.values.yaml import Document

_PATCHING = ("patch-and-transform", "conditional-patch-and-transform", NATIVE)

_UNKNOWN_FIELD = re.compile(r'unknown name "([^"]+)"|unknown field "([^"]+)"')
_FIELD_PATH = re.compile(r"[A-Za-z][\w-]*(?:\[\d+\]|\.[A-Za-z][\w-]*)+|[a-z]\w+")
_Path = tuple[str | int, ...]


class CheckedComposition(NamedTuple):
    """A Composition that can be rendered with."""

    manifest: Manifest
    file: CompositionFile
    functions: dict[str, Object]

    @property
    def composition(self) -> Composition:
        return self.file.composition

    @property
    def source(self) -> str:
        return self.manifest.document.source


class Surroundings(NamedTuple):
    """What the Compositions of a unit are checked against."""

    kinds: KnownKinds
    definitions: Definitions
    functions: StepFunctions
    is_complete: bool


def is_composition(manifest: Manifest) -> bool:
    return manifest.group_kind == (GROUP, "Composition")


def definition_of(api_version: str, kind: str, file: str, defined: list[DefinedKind]) -> DefinedKind | None:
    """The definition of a kind of composite resource; of several the nearest."""
    group = api_group(api_version)
    same = [item for item in defined if (item.definition.group, item.definition.names.kind) == (group, kind)]
    return nearest(file, same, lambda item: item.file)[0] if same else None


def check_composition(
    manifest: Manifest, around: Surroundings
) -> tuple[CheckedComposition | None, list[Finding]]:
    """A Composition with what is wrong with it; None in its place if it cannot be rendered with."""
    findings = list(validated(manifest, around.kinds))
    place = Place(manifest.document.source, line_of(manifest, ()))
    try:
        file = _composition_file(manifest)
        functions = around.functions.called_by(file.composition, manifest.document.source)
    except CrossplyError as problem:
        return None, findings or [error(problem, place)]
    if findings:
        return None, findings
    checked = CheckedComposition(manifest, file, functions)
    findings += _kind_findings(checked, around)
    findings += around.functions.unknown(file.composition, manifest, functions)
    findings += list(_input_findings(checked)) or _field_findings(checked, around.kinds)
    # What is rendered with a Composition that has a mistake shows the same mistake again.
    is_renderable = all(finding.level != ERROR for finding in findings)
    return (checked if is_renderable else None), findings


def _composition_file(manifest: Manifest) -> CompositionFile:
    document = manifest.document
    if manifest.inside:
        document = Document(manifest.value, document.source, line_of(manifest, ()))
    purpose = "cannot read Composition"
    return composition_in(document, purpose, purpose)


def _kind_findings(checked: CheckedComposition, around: Surroundings) -> Iterator[Finding]:
    manifest, composite = checked.manifest, checked.composition.composite
    field = "compositeTypeRef" if "compositeTypeRef" in manifest.value["spec"] else "from"
    place = Place(checked.source, line_of(manifest, ("spec", field)))
    defined = definition_of(composite.api_version, composite.kind, checked.source, around.definitions.defined)
    if defined is None:
        yield from _undefined(checked, around, place)
        return
    version = split_api_version(composite.api_version)[1]
    definition = defined.definition
    if version != definition.referenceable_version:
        problem = UndefinedKind(
            f"the Composition is for {composite.kind} of {composite.api_version}, which is not the "
            f"referenceable version of its definition in {defined.file}",
            hint=f"write {definition.composite.api_version}",
        )
        yield error(problem, place)
    try:
        check_contract(definition, checked.composition)
    except CrossplyError as problem:
        yield error(problem, place)


def _undefined(checked: CheckedComposition, around: Surroundings, place: Place) -> Iterator[Finding]:
    composite = checked.composition.composite
    if (api_group(composite.api_version), composite.kind) in around.definitions.refused:
        return
    if around.kinds.crd(*composite) is not None:
        return  # defined by a dependency
    similar = _similar(checked, around)
    problem = UndefinedKind(
        f"no definition defines {composite.kind} of {composite.api_version}",
        hint=f"did you mean {similar.kind} of {similar.api_version}?"
        if similar
        else "add its CompositeResourceDefinition, or the package that has it to the dependencies",
    )
    yield error(problem, place) if similar or around.is_complete else warning(problem, place)


def _similar(checked: CheckedComposition, around: Surroundings) -> TypeRef | None:
    """A defined kind whose name is like that of an undefined one; in loose files only one beside it."""
    directory = os.path.dirname(checked.source)
    kinds = {
        item.definition.names.kind: item.definition.composite
        for item in around.definitions.defined
        if around.is_complete or os.path.dirname(item.file) == directory
    }
    names = get_close_matches(checked.composition.composite.kind, list(kinds), n=1)
    return kinds[names[0]] if names else None


def _input_findings(checked: CheckedComposition) -> Iterator[Finding]:
    for index, step in enumerate(checked.composition.steps):
        function = builtin_of(checked.functions.get(step.function), step)
        if function is not None:
            yield from _step_input_findings(step, index, function, checked.manifest)


def _field_findings(checked: CheckedComposition, kinds: KnownKinds) -> Iterator[Finding]:
    for index, step in enumerate(checked.composition.steps):
        function = builtin_of(checked.functions.get(step.function), step)
        if function in _PATCHING and step.input is not None:
            place = _input_place(step, index)
            patched = PatchedInput(checked.manifest, place, step.input, checked.composition.composite)
            yield from unknown_fields(patched, kinds)


class InvalidInput(CheckError):
    """The input of a step is not one that its function accepts."""

    code = "CP-556"


def _input_place(step: Step, index: int) -> _Path:
    """Where in a Composition the input of a step is written."""
    return ("spec",) if step.function == NATIVE_FUNCTION else ("spec", "pipeline", index, "input")


def _step_input_findings(step: Step, index: int, function: str, manifest: Manifest) -> Iterator[Finding]:
    """What a built-in function refuses of a step's input."""
    problem = input_problem(function, step.input)
    if not problem:
        return
    inside = _input_place(step, index)
    place = Place(
        manifest.document.source, line_of(manifest, (*inside, *_field_of_problem(problem, step.input)))
    )
    message = problem if step.function == NATIVE_FUNCTION else f'step "{step.name}": {problem}'
    hint = f"see the fields of its input: docs/reference/functions/{function}.md"
    yield error(InvalidInput(message, hint="" if step.function == NATIVE_FUNCTION else hint), place)


def _field_of_problem(problem: str, value: Any) -> _Path:
    """The field of an input that a message is about, as far as it can be found."""
    unknown = _UNKNOWN_FIELD.search(problem)
    if unknown:
        return next(_with_key(value, unknown[1] or unknown[2]), ())
    paths = [tuple(segments(text, value)) for text in _FIELD_PATH.findall(problem)]
    return max(paths, key=len, default=())


def _with_key(value: Any, name: str) -> Iterator[_Path]:
    """The paths of the fields of a name."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        if key == name:
            yield (key,)
        for path in _with_key(below, name):
            yield key, *path
