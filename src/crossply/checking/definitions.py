"""Definitions and CRDs, checked as the control plane and an API server do when they are installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crossply.apiserver.apiextensions.crd_defaults import default_definition, fresh_status
from crossply.apiserver.apiextensions.crd_validation import validate_definition
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.checking.finding import Finding, InvalidObject, Place, error
from crossply.checking.known_kinds import GroupKind, KnownKinds
from crossply.checking.object_validation import subject, validated
from crossply.errors import CrossplyError
from crossply.kinds.application_and_infrastructure_definitions import FIRST_DESIGN
from crossply.kinds.definition import Definition, parse_definition
from crossply.manifests.manifest import Manifest
from crossply.schema.field_errors import INVALID, FieldError
from crossply.validation.extension_schemas import Extensions
from crossply.validation.line_numbers import line_of, segments
from crossply.values import Object

GROUP = "apiextensions.crossplane.io"
CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
_KINDS = ("CompositeResourceDefinition", *FIRST_DESIGN, "InfrastructurePublication")


class DefinedKind(NamedTuple):
    """A kind of composite resource that a file defines."""

    manifest: Manifest
    definition: Definition

    @property
    def file(self) -> str:
        return self.manifest.document.source


class Definitions(NamedTuple):
    """What the files of a unit define, and what is wrong with it."""

    defined: list[DefinedKind]
    crds: list[Object]
    findings: list[Finding]
    refused: set[GroupKind]
    """Kinds whose definitions are not valid; nothing more is said of what needs them."""


def is_definition(manifest: Manifest) -> bool:
    """Whether an object defines a kind."""
    group, kind = manifest.group_kind
    return (group, kind) == CRD or (group == GROUP and kind in _KINDS)


def read_definitions(manifests: Iterable[Manifest]) -> Definitions:
    """Check the definitions among objects."""
    extensions = Extensions()
    read = Definitions([], extensions.crds, [], set())
    core = KnownKinds((), list)
    for manifest in filter(is_definition, manifests):
        problems = list(_problems(manifest, extensions, core))
        read.findings.extend(problems)
        if problems:
            read.refused.update(_claimed_kinds(manifest.value))
        elif manifest.kind in ("CompositeResourceDefinition", *FIRST_DESIGN):
            read.defined.append(DefinedKind(manifest, parse_definition(manifest.value)))
    return read


def _claimed_kinds(definition: Object) -> Iterator[GroupKind]:
    """The kinds that a definition would define if it were valid."""
    spec = definition.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    for field in ("names", "claimNames"):
        names = spec.get(field)
        if isinstance(names, dict):
            yield str(spec.get("group")), str(names.get("kind"))


def _problems(manifest: Manifest, extensions: Extensions, core: KnownKinds) -> Iterator[Finding]:
    refused = list(validated(manifest, core)) if manifest.group_kind != CRD else []
    yield from refused
    if refused:
        return
    place = Place(manifest.document.source, line_of(manifest, ()))
    count = len(extensions.crds)
    try:
        extensions.add([manifest])
        parse_definition(manifest.value) if manifest.group_kind != CRD else None
    except CrossplyError as failure:
        del extensions.crds[count:]
        yield error(failure, place)
        return
    # The composite resource's CRD and the claim's have the same mistakes.
    for crd in extensions.crds[count : count + 1]:
        for field_error in _api_server_errors(crd):
            line = line_of(manifest, segments(_written_at(field_error.path), manifest.value))
            problem = InvalidObject(f"{subject(manifest)}: {field_error}", hint=_CRD_HINT)
            yield error(problem, place._replace(line=line))


_CRD_HINT = "an API server refuses a CustomResourceDefinition with this schema"


def _api_server_errors(crd: Object) -> list[FieldError]:
    try:
        defaulted = default_definition(crd)
    except StatusError as problem:
        return [FieldError(INVALID, "spec", "", str(problem))]
    return validate_definition({**defaulted, "status": fresh_status(defaulted)}, None)


def _written_at(path: str) -> str:
    """Where a field is written: errors speak of a form in which what all versions share is moved."""
    return path.replace("spec.validation.", "spec.versions[0].schema.", 1)
