"""ClusterRoles for the kinds of a Provider, so that they can be composed and used.

Names and labels are those of Crossplane's RBAC manager. `aggregate-to-edit` is aggregated into the roles of
Crossplane, administrators and editors, `aggregate-to-view` into that of viewers, and `system` is for the
Provider itself: beside its own kinds, that grants what nearly every Provider uses. What else it needs must be
granted by whoever installs it.
"""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.object_metadata import name_of, owner_reference
from crossply.control.definitions.kind_roles import LABEL
from crossply.control.definitions.protected_crds import why_protected
from crossply.control.kinds import MANAGED_DEFINITION
from crossply.control.managed_definitions.safe_start import has_safe_start
from crossply.kube.core_kinds import CLUSTER_ROLE, CRD
from crossply.values import Object

PREFIX = "crossplane:provider:"
_EDIT, _VIEW = ["*"], ["get", "list", "watch"]
_SYSTEM = ["get", "list", "watch", "update", "patch", "create"]
_EXTRA = {
    "apiGroups": ["", "coordination.k8s.io"],
    "resources": ["secrets", "configmaps", "events", "leases"],
    "verbs": ["*"],
}
"""Credentials and connection details, events, and the election of a leader."""
_DEFINITIONS = {
    "apiGroups": [CRD.group],
    "resources": [CRD.resource],
    "verbs": _VIEW,
}
"""A Provider that starts a controller only once its kind is there looks for that."""


def roles_of_provider(
    revision: Object, references: Iterable[Object], capabilities: Iterable[str] = ()
) -> list[Object]:
    """The roles of a revision for the CRDs among these references; none where there are no CRDs.

    A role grants by name. So nothing is granted for a name that the API server or the control plane itself
    serves, whatever the revision brought under it.
    """
    plurals: dict[str, list[str]] = {}
    for reference in references:
        if reference["kind"] in (CRD.kind, MANAGED_DEFINITION.kind) and not why_protected(reference["name"]):
            plural, _, group = reference["name"].partition(".")
            plurals.setdefault(group, []).append(plural)
    if not plurals:
        return []
    extra = [_EXTRA, _DEFINITIONS] if has_safe_start(capabilities) else [_EXTRA]
    return [
        _role(revision, "aggregate-to-edit", ("crossplane", "admin", "edit"), _rules(plurals, _EDIT)),
        _role(revision, "aggregate-to-view", ("view",), _rules(plurals, _VIEW)),
        _role(revision, "system", (), _rules(plurals, _SYSTEM) + _finalizers(plurals) + extra),
    ]


def _rules(plurals: dict[str, list[str]], verbs: list[str]) -> list[Object]:
    return [
        {
            "apiGroups": [group],
            "resources": [name for plural in sorted(named) for name in (plural, f"{plural}/status")],
            "verbs": verbs,
        }
        for group, named in sorted(plurals.items())
    ]


def _finalizers(plurals: dict[str, list[str]]) -> list[Object]:
    return [
        {
            "apiGroups": [group],
            "resources": [f"{plural}/finalizers" for plural in sorted(named)],
            "verbs": ["update"],
        }
        for group, named in sorted(plurals.items())
    ]


def _role(revision: Object, suffix: str, gathered_by: tuple[str, ...], rules: list[Object]) -> Object:
    owner = owner_reference(revision)
    metadata: Object = {"name": f"{PREFIX}{name_of(revision)}:{suffix}", "ownerReferences": [owner]}
    if gathered_by:
        metadata["labels"] = {f"{LABEL}{role}": "true" for role in gathered_by}
    return {
        "apiVersion": CLUSTER_ROLE.api_version,
        "kind": CLUSTER_ROLE.kind,
        "metadata": metadata,
        "rules": rules,
    }
