"""A Usage as the control plane reads it, whichever of its three kinds it is of.

`spec.of` is the used resource, which cannot be deleted while the Usage is there; `spec.by` is the using one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crossply.compose.object_metadata import (
    finalizers_of,
    is_being_deleted,
    labels_of,
    name_of,
    namespace_of,
    string_map,
    uid_of,
)
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.api_version import api_group

USAGE = Kind("protection.crossplane.io", "v1beta1", "Usage", "usages", True)
CLUSTER_USAGE = Kind("protection.crossplane.io", "v1beta1", "ClusterUsage", "clusterusages", False)
LEGACY_USAGE = Kind("apiextensions.crossplane.io", "v1beta1", "Usage", "usages", False)
USAGE_KINDS = (USAGE, CLUSTER_USAGE, LEGACY_USAGE)

FINALIZER = "usage.apiextensions.crossplane.io"
IN_USE = "crossplane.io/in-use"
DETAILS = "crossplane.io/usage-details"
DELETION_ATTEMPT = "usage.crossplane.io/deletion-attempt-with-policy"
REFUSED_BY = "crossply.dev/deletion-refused-by"
"""The UIDs of the Usages that refused the deletion: only they may make up for it."""
COMPOSITE_LABEL = "crossplane.io/composite"


class UsageKey(NamedTuple):
    """Which Usage."""

    kind: Kind
    namespace: str
    name: str


class UsageResource(NamedTuple):
    """The used or the using resource, as a Usage names or selects it."""

    api_version: str
    kind: str
    name: str
    """Empty where a selector is not resolved yet."""
    namespace: str
    stated_namespace: str
    """The namespace that the reference itself states."""
    labels: Mapping[str, str]
    same_controller: bool
    selects: bool

    @property
    def group(self) -> str:
        """The API group; versions of a kind are one."""
        return api_group(self.api_version)

    @property
    def shown(self) -> str:
        """Kind and name, as messages have it."""
        return f"{self.kind}/{self.name}"


class Usage(NamedTuple):
    """One Usage of any kind."""

    kind: Kind
    obj: Object
    of: UsageResource
    by: UsageResource | None
    reason: str
    replays_deletion: bool

    @property
    def key(self) -> UsageKey:
        """Which one."""
        return UsageKey(self.kind, namespace_of(self.obj), name_of(self.obj))

    @property
    def uid(self) -> str:
        """Which one of that name."""
        return uid_of(self.obj)

    @property
    def is_deleted(self) -> bool:
        """Whether it is on its way out."""
        return is_being_deleted(self.obj)

    @property
    def finalizers(self) -> list[str]:
        """What holds it back."""
        return finalizers_of(self.obj)

    @property
    def is_composed(self) -> bool:
        """Whether a composite resource made it."""
        return bool(labels_of(self.obj).get(COMPOSITE_LABEL))

    @property
    def protects(self) -> bool:
        """Whether it still blocks a deletion; one that was released does not."""
        return not self.is_deleted or FINALIZER in self.finalizers


def read_usage(kind: Kind, obj: Object) -> Usage:
    """The view of an object of a Usage's kind."""
    spec = obj.get("spec") or {}
    namespace = namespace_of(obj)
    by = spec.get("by")
    return Usage(
        kind=kind,
        obj=obj,
        of=_party(spec.get("of") or {}, namespace),
        by=_party(by, namespace) if by else None,
        reason=spec.get("reason") or "",
        replays_deletion=spec.get("replayDeletion") is True,
    )


def _party(value: Object, usage_namespace: str) -> UsageResource:
    reference, selector = value.get("resourceRef") or {}, value.get("resourceSelector")
    chosen = reference if reference.get("name") else selector or {}
    stated = chosen.get("namespace")
    return UsageResource(
        api_version=value.get("apiVersion") or "",
        kind=value.get("kind") or "",
        name=reference.get("name") or "",
        # An empty namespace that is stated is one: so a selector that found a cluster scoped object says it.
        namespace=usage_namespace if stated is None else stated,
        stated_namespace=stated or "",
        labels=string_map((selector or {}).get("matchLabels")),
        same_controller=(selector or {}).get("matchControllerRef") is True,
        selects=selector is not None,
    )


def details_of(usage: Usage) -> str:
    """What the annotation, and so the column DETAILS, says of a Usage."""
    if usage.reason:
        return usage.reason
    if usage.by is None:
        return "undefined"
    details = f"{usage.by.shown} uses {usage.of.shown}"
    return f"{details} in namespace {usage.of.stated_namespace}" if usage.of.stated_namespace else details
