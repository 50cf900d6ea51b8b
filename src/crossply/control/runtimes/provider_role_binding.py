"""The binding that lets a provider use the kinds that it brings: its role is made where those are."""

from __future__ import annotations

from crossply.compose.events import WARNING, Event
from crossply.compose.object_metadata import name_of
from crossply.control.apply_digests import contains
from crossply.control.controller_context import Plane
from crossply.control.definitions.kind_roles import APPLY
from crossply.control.package_manager.provider_roles import PREFIX
from crossply.control.runtimes.manifest_metadata import MANAGER, owner_of
from crossply.kube.core_kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING
from crossply.kube.failures import Forbidden
from crossply.values import Object


async def keep_binding(plane: Plane, revision: Object, namespace: str, account: str) -> None:
    """Bind the service account that a provider runs as to the provider's own role, if it is not yet."""
    binding = binding_for(revision, namespace, account)
    try:
        live = await plane.as_installer.get(CLUSTER_ROLE_BINDING, name_of(binding))
        if live is None or not contains(live, binding):
            await plane.as_installer.apply(CLUSTER_ROLE_BINDING, binding, MANAGER)
    except Forbidden as problem:
        # The operator may want to grant providers their rights by hand.
        message = f"cannot apply ClusterRoleBinding {name_of(binding)}: {problem}"
        plane.recorder.record(revision, Event(WARNING, APPLY, message))


def binding_for(revision: Object, namespace: str, account: str) -> Object:
    """The binding of a provider's revision."""
    name = f"{PREFIX}{name_of(revision)}:system"
    return {
        "apiVersion": CLUSTER_ROLE_BINDING.api_version,
        "kind": CLUSTER_ROLE_BINDING.kind,
        "metadata": {"name": name, "ownerReferences": [owner_of(revision)]},
        "roleRef": {"apiGroup": CLUSTER_ROLE.group, "kind": CLUSTER_ROLE.kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }
