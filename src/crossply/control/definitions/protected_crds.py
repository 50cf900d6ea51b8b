"""Which CRDs a definition or a package may not have: those of other kinds that the cluster depends on.

The controllers may write every CRD and delete objects of every kind that a definition names. Whoever may
create a definition must not gain that right for kinds of the API server, the control plane, or anything that
somebody installed beside it.
"""

from __future__ import annotations

from crossply.compose.object_metadata import controller_of, name_of
from crossply.control.definitions.core_crds import core_names
from crossply.errors import CrossplyError
from crossply.values import Object

BUILT_IN_GROUPS = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "custom.metrics.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "extensions",
        "external.metrics.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "imagepolicy.k8s.io",
        "internal.apiserver.k8s.io",
        "metrics.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
        "storagemigration.k8s.io",
    }
)
"""The API groups that Kubernetes API servers and their usual extensions serve themselves."""
_RENDERED_CATEGORIES = frozenset({"composite", "claim"})
"""Each CRD that was rendered for a definition has one of them."""


class ProtectedKind(CrossplyError):
    """A definition names a kind of the API server, of the control plane or of another owner."""

    code = "CP-804"
    hint = "choose another group or plural for the kind"


def why_protected(crd_name: str) -> str | None:
    """Why no definition and no package may bring a CRD of this name; None where one may."""
    group = crd_name.partition(".")[2]
    if group in BUILT_IN_GROUPS:
        return f"the API server itself serves the API group {group}"
    if crd_name in core_names():
        return "it is a kind of the control plane itself"
    return None


def check_definable(crd_name: str) -> None:
    """Raise ProtectedKind where no definition may have a CRD of this name."""
    reason = why_protected(crd_name)
    if reason is not None:
        raise ProtectedKind(f"CustomResourceDefinition {crd_name} is protected: {reason}")


def check_adoptable(live: Object) -> None:
    """Raise ProtectedKind for a CRD without a controller, unless it was once rendered for a definition."""
    if controller_of(live) is not None:
        return
    categories = live["spec"]["names"].get("categories") or ()
    if _RENDERED_CATEGORIES.isdisjoint(categories):
        raise ProtectedKind(
            f"CustomResourceDefinition {name_of(live)} exists already, and was not made for a definition"
        )
