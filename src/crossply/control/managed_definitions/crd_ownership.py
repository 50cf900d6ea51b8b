"""Which CRDs a ManagedResourceDefinition may write; pure.

The controllers may write every CRD. A user who may create a definition must not gain that right for kinds of
the API server, of the control plane, or of another owner.
"""

from __future__ import annotations

from crossply.compose.object_metadata import controller_of, metadata_of, name_of, uid_of
from crossply.control.definitions.protected_crds import ProtectedKind, check_definable
from crossply.values import Object


def check_ownership(definition: Object, live: Object | None) -> None:
    """Raise ProtectedKind where a definition may not have the CRD of its name."""
    check_definable(name_of(definition))
    if live is None or _is_owner(definition, live):
        return
    controller, installer = controller_of(live), controller_of(definition)
    if controller is None:
        if installer is None:
            raise ProtectedKind(
                f"CustomResourceDefinition {name_of(live)} exists already and is not the definition's",
                hint="delete the CustomResourceDefinition, or the ManagedResourceDefinition",
            )
    elif controller.get("uid") != (installer or {}).get("uid"):
        owner = f"{controller.get('kind')} {controller.get('name')} (UID {controller.get('uid')})"
        raise ProtectedKind(
            f"{name_of(live)} is already controlled by {owner}",
            hint="delete what controls the CustomResourceDefinition, or the ManagedResourceDefinition",
        )


def _is_owner(definition: Object, crd: Object) -> bool:
    owners = metadata_of(crd).get("ownerReferences") or ()
    return any(owner.get("uid") == uid_of(definition) for owner in owners)
