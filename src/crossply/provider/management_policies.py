"""Management policies: what may be done to the external resource of a managed resource."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.values import Object

OBSERVE, CREATE, UPDATE, DELETE, LATE_INITIALIZE, ALL = (
    "Observe",
    "Create",
    "Update",
    "Delete",
    "LateInitialize",
    "*",
)
ORPHAN = "Orphan"

SUPPORTED = frozenset(
    frozenset(actions)
    for actions in (
        (),
        (ALL,),
        (OBSERVE,),
        (OBSERVE, CREATE),
        (OBSERVE, UPDATE),
        (OBSERVE, DELETE),
        (OBSERVE, LATE_INITIALIZE),
        (OBSERVE, CREATE, UPDATE),
        (OBSERVE, CREATE, DELETE),
        (OBSERVE, CREATE, LATE_INITIALIZE),
        (OBSERVE, UPDATE, LATE_INITIALIZE),
        (OBSERVE, CREATE, UPDATE, DELETE),
        (OBSERVE, CREATE, UPDATE, LATE_INITIALIZE),
        (OBSERVE, CREATE, DELETE, LATE_INITIALIZE),
        (OBSERVE, CREATE, UPDATE, DELETE, LATE_INITIALIZE),
    )
)


class ManagementPolicies(NamedTuple):
    """The policies of one managed resource."""

    actions: frozenset[str] = frozenset({ALL})
    orphans: bool = False
    """The legacy `deletionPolicy: Orphan`; it counts where the actions do not name Delete."""

    @property
    def is_paused(self) -> bool:
        """Nothing may be done."""
        return not self.actions

    @property
    def problem(self) -> str | None:
        """Why these policies cannot be used."""
        if self.actions in SUPPORTED:
            return None
        actions = " ".join(sorted(self.actions))
        return (
            f"`spec.managementPolicies` is set to a value([{actions}]) which is not supported. "
            "Check docs for supported policies"
        )

    @property
    def only_observes(self) -> bool:
        """Nothing but observing is allowed."""
        return self.actions == {OBSERVE}

    @property
    def can_delete(self) -> bool:
        """The external resource may be deleted with the managed one."""
        return DELETE in self.actions or (ALL in self.actions and not self.orphans)

    def can(self, action: str) -> bool:
        """An action other than Delete is allowed."""
        return action in self.actions or ALL in self.actions


def policies_of(resource: Object) -> ManagementPolicies:
    """The policies of a managed resource. Where none are written, everything is allowed."""
    spec: Any = resource.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    actions = spec.get("managementPolicies")
    actions = [ALL] if actions is None else actions
    return ManagementPolicies(frozenset(map(str, actions)), spec.get("deletionPolicy") == ORPHAN)
