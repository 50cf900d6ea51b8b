"""In which order objects are applied, and which of them are never pruned."""

from __future__ import annotations

from crossply.values import Object
from crossply.values.api_version import api_group

_PACKAGES = ("Configuration", "Function", "Provider")
_DEFINITIONS = ("CompositeResourceDefinition", "CustomResourceDefinition", "ManagedResourceDefinition")

NAMESPACES, DEFINITIONS, COMPOSITIONS, SETTINGS, PACKAGES, BUILT_IN, OTHERS = range(7)


def rank(obj: Object) -> int:
    """What an object needs comes before it: definitions before Compositions, packages before XRs."""
    group, kind = api_group(str(obj.get("apiVersion") or "")), str(obj.get("kind") or "")
    if kind in _DEFINITIONS:
        return DEFINITIONS
    if group == "pkg.crossplane.io":
        return PACKAGES if kind in _PACKAGES else SETTINGS
    if group == "apiextensions.crossplane.io":
        return COMPOSITIONS
    if kind == "Namespace" and not group:
        return NAMESPACES
    return BUILT_IN if "." not in group or group.endswith(".k8s.io") else OTHERS


def in_order(objects: list[Object]) -> list[int]:
    """The positions of objects, in the order in which they are applied."""
    return sorted(range(len(objects)), key=lambda position: rank(objects[position]))


def is_pruned(obj: Object) -> bool:
    """Whether an object that left the files is deleted. With these, much else would be deleted."""
    return rank(obj) not in (NAMESPACES, DEFINITIONS, PACKAGES)


def is_shown(obj: Object) -> bool:
    """Whether the tree below an object is worth watching: XRs, claims, managed resources and their like."""
    return rank(obj) == OTHERS
