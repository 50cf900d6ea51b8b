"""What a resource is related to besides its tree: claim, Composition, revision, owner and Usages."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.object_metadata import (
    CLAIM_NAME_LABEL,
    CLAIM_NAMESPACE_LABEL,
    labels_of,
    metadata_of,
    text_in,
)
from crossply.control.kinds import COMPOSITION, REVISION
from crossply.control.usages.usage_model import LEGACY_USAGE, USAGE
from crossply.errors import CrossplyError
from crossply.resource_tree.node import Reference
from crossply.ui.cluster_view import ClusterView
from crossply.values import Object
from crossply.values.api_version import api_group


class Relation(NamedTuple):
    role: str
    reference: Reference
    note: str = ""

    @property
    def group(self) -> str:
        return api_group(self.reference.api_version)


def own_relations(obj: Object) -> list[Relation]:
    """The relations that the object itself has."""
    spec = obj.get("spec")
    spec = spec if type(spec) is dict else {}
    machinery = spec.get("crossplane")
    fields = {**spec, **machinery} if type(machinery) is dict else spec
    relations = []
    for role, key, kind in (
        ("Composition", "compositionRef", COMPOSITION),
        ("Revision", "compositionRevisionRef", REVISION),
    ):
        name = text_in(fields[key], "name") if type(fields.get(key)) is dict else ""
        if name:
            relations.append(Relation(role, Reference(kind.api_version, kind.kind, name)))
    for role, key in (("Claim", "claimRef"), ("Composite resource", "resourceRef")):
        if type(spec.get(key)) is dict:
            relations.append(Relation(role, _reference(spec[key])))
    return relations + _owners(obj) + _claim_by_label(obj, relations)


def _owners(obj: Object) -> list[Relation]:
    owners = metadata_of(obj).get("ownerReferences")
    namespace = text_in(metadata_of(obj), "namespace")
    return [
        Relation("Owner", _reference({"namespace": namespace, **owner}))
        for owner in (owners if type(owners) is list else ())
        if type(owner) is dict
    ]


def _claim_by_label(obj: Object, relations: list[Relation]) -> list[Relation]:
    labels = labels_of(obj)
    name, namespace = labels.get(CLAIM_NAME_LABEL, ""), labels.get(CLAIM_NAMESPACE_LABEL, "")
    if not name or any(relation.role == "Claim" for relation in relations):
        return []
    return [Relation("Claim", Reference("", "", name, namespace))]


def _reference(entry: Object) -> Reference:
    return Reference(*(text_in(entry, key) for key in ("apiVersion", "kind", "name", "namespace")))


async def usages_of(view: ClusterView, reference: Reference) -> list[Relation]:
    """Usages that protect the resource or are made by it, as far as the viewer may see them."""
    relations = []
    for kind in (USAGE, LEGACY_USAGE):
        try:
            usages = await view.objects(kind)
        except CrossplyError:
            continue
        for usage in usages:
            spec = usage.get("spec")
            if type(spec) is not dict:
                continue
            for role, key in (("Used by", "of"), ("Uses", "by")):
                if _names(spec.get(key), reference):
                    relations.append(Relation(role, _self(usage), text_in(spec, "reason")))
    return relations


def _names(side: object, reference: Reference) -> bool:
    if type(side) is not dict or type(side.get("resourceRef")) is not dict:
        return False
    same_kind = (side.get("kind"), api_group(text_in(side, "apiVersion"))) == (
        reference.kind,
        api_group(reference.api_version),
    )
    return same_kind and side["resourceRef"].get("name") == reference.name


def _self(obj: Object) -> Reference:
    metadata = metadata_of(obj)
    return Reference(
        text_in(obj, "apiVersion"),
        text_in(obj, "kind"),
        text_in(metadata, "name"),
        text_in(metadata, "namespace"),
    )
