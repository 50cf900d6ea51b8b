"""Objects validated as `validate` and an API server do it, told as findings with their lines."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.checking.finding import Finding, InvalidObject, Place, error, warning
from crossply.checking.known_kinds import KnownKinds
from crossply.errors import CrossplyError
from crossply.manifests.manifest import Manifest
from crossply.validation.line_numbers import place_of
from crossply.validation.resource_validation import Finding as ValidationFinding


def validated(manifest: Manifest, kinds: KnownKinds) -> Iterator[Finding]:
    """What is wrong with an object; of a kind that is not known nothing is."""
    place = Place(manifest.document.source, manifest.document.line)
    try:
        outcome = kinds.validate(manifest)
    except CrossplyError as failure:
        yield error(failure, place)
        return
    for finding in outcome.findings:
        problem = InvalidObject(
            f"{subject(manifest)}: {finding.message}",
            place=place_of(finding, manifest),
            hint=_hint(finding),
        )
        yield warning(problem, place) if finding.type == "defaulting" else error(problem, place)
    if not outcome.findings and outcome.status == "missingSchema":
        yield from _unserved(manifest, kinds, place)


def _unserved(manifest: Manifest, kinds: KnownKinds, place: Place) -> Iterator[Finding]:
    versions = kinds.versions(manifest.api_version, manifest.kind)
    if versions:
        yield error(
            InvalidObject(
                f"{subject(manifest)}: there is no version {manifest.api_version} of the kind",
                hint=f"its definition has {', '.join(versions)}",
            ),
            place,
        )


def subject(manifest: Manifest) -> str:
    """What messages call an object."""
    metadata = manifest.value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return f"{manifest.kind} {name}" if isinstance(name, str) else manifest.kind


def _hint(finding: ValidationFinding) -> str:
    if finding.type == "unknownField":
        return "an API server drops it: correct its name, or add it to the schema of the kind"
    if finding.type == "cel":
        return "a rule of the schema refuses it"
    return ""
