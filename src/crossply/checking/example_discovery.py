"""Examples: composite resources and claims that a repository shows, and the Compositions they are for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crossply.checking.compositions import CheckedComposition, definition_of
from crossply.checking.definitions import DefinedKind
from crossply.checking.directory_proximity import nearest
from crossply.compose.engine_field_paths import MODERN, Machinery, machinery_at
from crossply.compose.object_metadata import RESOURCE_NAME_ANNOTATION, annotations_of, metadata_of, name_of
from crossply.compose.selection import labels_match, match_labels
from crossply.convert.claim_to_composite import CompositeOptions, claim_to_composite
from crossply.kinds.definition import Definition
from crossply.manifests.manifest import Manifest
from crossply.values import Object
from crossply.values.api_version import api_group

_OF_CLAIMS = ("compositeDeletePolicy", "resourceRef", "writeConnectionSecretToRef")
"""Fields of a claim that a control plane does not copy into its composite resource."""


class Example(NamedTuple):
    """A composite resource or claim, and what defines it."""

    manifest: Manifest
    defined: DefinedKind | None
    """None where only a Composition says that there is such a kind."""
    is_claim: bool = False

    @property
    def file(self) -> str:
        return self.manifest.document.source

    @property
    def definition(self) -> Definition | None:
        return None if self.defined is None else self.defined.definition

    @property
    def machinery(self) -> Machinery:
        return MODERN if self.definition is None else machinery_at(self.definition.machinery)


def find_examples(
    manifests: Iterable[Manifest], defined: list[DefinedKind], compositions: list[CheckedComposition]
) -> list[Example]:
    """The examples among objects; what a rendering printed or a control plane showed is none."""
    manifests = list(manifests)
    recorded = {item.document.source for item in manifests if _is_composed(item.value)}
    composed_kinds = {checked.composition.composite.kind for checked in compositions}
    candidates = (
        _example(item, defined, composed_kinds)
        for item in manifests
        if item.document.source not in recorded and not _is_result(item.value)
    )
    return [example for example in candidates if example is not None]


def _is_composed(value: Object) -> bool:
    return RESOURCE_NAME_ANNOTATION in annotations_of(value)


def _is_result(value: Object) -> bool:
    """Whether an object has what only a control plane, or a rendering, writes."""
    status = value.get("status")
    return isinstance(status, dict) and ("conditions" in status or "spec" not in value)


def _example(manifest: Manifest, defined: list[DefinedKind], composed_kinds: set[str]) -> Example | None:
    api_version, kind, file = manifest.api_version, manifest.kind, manifest.document.source
    definition = definition_of(api_version, kind, file, defined)
    if definition is not None:
        return Example(manifest, definition)
    group = api_group(api_version)
    claimed = [
        item
        for item in defined
        if item.definition.group == group
        and item.definition.claim_names is not None
        and item.definition.claim_names.kind == kind
    ]
    if claimed:
        return Example(manifest, nearest(file, claimed, lambda item: item.file)[0], is_claim=True)
    return Example(manifest, None) if kind in composed_kinds and group else None


def composite_of(example: Example) -> Object:
    """The composite resource of an example: itself, or the one that its claim would get."""
    if not example.is_claim or example.definition is None:
        return example.manifest.value
    options = CompositeOptions(kind=example.definition.names.kind)
    xr = claim_to_composite(example.manifest.value, options, lambda: "check")
    return {**xr, "spec": {key: value for key, value in xr["spec"].items() if key not in _OF_CLAIMS}}


def compositions_for(
    example: Example, xr: Object, compositions: Iterable[CheckedComposition]
) -> Iterator[CheckedComposition]:
    """The Compositions that an example may be composed with: named, selected, or else the nearest."""
    same_kind = [checked for checked in compositions if _is_for(checked, xr)]
    definition = example.definition
    required_name = example.machinery.name_in(xr, "compositionRef")
    selector = match_labels(example.machinery.read(xr, "compositionSelector"))
    if definition is not None:
        default = None if selector else definition.default_composition
        required_name = definition.enforced_composition or required_name or default or ""
    if required_name:
        same_kind = [item for item in same_kind if name_of(item.manifest.value) == required_name]
    elif selector:
        same_kind = [item for item in same_kind if labels_match(selector, item.composition.labels)]
    yield from nearest(example.file, same_kind, lambda item: item.source)


def _is_for(checked: CheckedComposition, xr: Object) -> bool:
    composite = checked.composition.composite
    api_version = str(xr.get("apiVersion"))
    return composite.kind == xr.get("kind") and api_group(composite.api_version) == api_group(api_version)


def named(xr: Object) -> Object:
    """The composite resource with a name: one that a server would generate is not there yet."""
    metadata = metadata_of(xr)
    if metadata.get("name"):
        return xr
    name = f"{metadata.get('generateName') or 'example-'}check"
    return {**xr, "metadata": {**metadata, "name": name}}
