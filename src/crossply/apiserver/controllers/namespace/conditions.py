"""The conditions of a terminating namespace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crossply.values import Object

_FINE = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": (
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
}


@dataclass(slots=True)
class Remains:
    """What remains in a namespace after its content was deleted."""

    resources: dict[tuple[str, str], int] = field(default_factory=dict)
    """How many objects remain, by plural and group."""
    finalizers: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, plural: str, group: str, finalizers: Sequence[str]) -> None:
        place = (plural, group)
        self.resources[place] = self.resources.get(place, 0) + 1
        for finalizer in finalizers:
            self.finalizers[finalizer] = self.finalizers.get(finalizer, 0) + 1

    def __bool__(self) -> bool:
        return bool(self.resources or self.failures)


def conditions_after(conditions: Sequence[Object], remains: Remains, stamp: str) -> list[Object]:
    """The conditions after a deletion pass; lastTransitionTime changes only with the status."""
    wrong = _wrong(remains)
    by_type = {condition["type"]: condition for condition in conditions}
    for kind, fine in _FINE.items():
        status = "True" if kind in wrong else "False"
        reason, message = wrong.get(kind, fine)
        before = by_type.get(kind)
        since = before["lastTransitionTime"] if before and before["status"] == status else stamp
        by_type[kind] = {
            "type": kind,
            "status": status,
            "lastTransitionTime": since,
            "reason": reason,
            "message": message,
        }
    return list(by_type.values())


def _wrong(remains: Remains) -> dict[str, tuple[str, str]]:
    wrong = {}
    if remains.failures:
        listed = ", ".join(sorted(remains.failures))
        wrong["NamespaceDeletionContentFailure"] = (
            "ContentDeletionFailed",
            f"Failed to delete all resource types, {len(remains.failures)} remaining: {listed}",
        )
    if remains.resources:
        listed = ", ".join(
            sorted(
                f"{plural}.{group} has {count} resource instances"
                for (plural, group), count in remains.resources.items()
            )
        )
        wrong["NamespaceContentRemaining"] = (
            "SomeResourcesRemain",
            f"Some resources are remaining: {listed}",
        )
    if remains.finalizers:
        listed = ", ".join(
            sorted(f"{name} in {count} resource instances" for name, count in remains.finalizers.items())
        )
        wrong["NamespaceFinalizersRemaining"] = (
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {listed}",
        )
    return wrong
