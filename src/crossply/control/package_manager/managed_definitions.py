"""Kinds of a Provider that Crossplane installed as ManagedResourceDefinitions.

Such a definition controls a CRD of the same name, or none while it is inactive. Crossply does not activate
definitions and creates none; existing ones stay as they are.
"""

from __future__ import annotations

import orjson

from crossply.compose.metadata import name_of, uid_of
from crossply.control.package_manager.owner_references import package_owner
from crossply.control.plane import Plane
from crossply.kube.core_kinds import CRD
from crossply.kube.kind import Kind
from crossply.kube.selection import Selection
from crossply.values import Object

MANAGED_DEFINITION = Kind(
    "apiextensions.crossplane.io",
    "v1alpha1",
    "ManagedResourceDefinition",
    "managedresourcedefinitions",
    False,
)


async def managed_definitions(plane: Plane, revision: Object) -> dict[str, Object]:
    """The metadata of those that the package of a revision brought, by name."""
    if await plane.as_controller.get(CRD, MANAGED_DEFINITION.resource) is None:
        return {}
    package = package_owner(revision) or {}
    owners = {uid_of(revision), package.get("uid")}
    listed = await plane.as_controller.list_selected(MANAGED_DEFINITION, Selection(metadata_only=True))
    definitions = [orjson.loads(data) for data in listed.items]
    return {
        name_of(definition): definition["metadata"]
        for definition in definitions
        if owners & _owners_of(definition)
    }


def _owners_of(obj: Object) -> set[str]:
    return {str(owner.get("uid")) for owner in obj["metadata"].get("ownerReferences") or ()}
