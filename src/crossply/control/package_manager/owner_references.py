"""Owner references of a package's objects: its active revision controls them, the package owns them.

Because the package is an owner, too, a CRD and all objects of its kind outlive the revision that installed
it. Everything here is pure.
"""

from __future__ import annotations

from crossply.compose.object_metadata import labels_of, name_of, owner_reference, uid_of
from crossply.control.calls.function_revision_runtime import PACKAGE
from crossply.errors import CrossplyError
from crossply.values import Object


class AlreadyControlled(CrossplyError):
    """An object of a package exists already, and is controlled by another object."""

    code = "CP-852"
    hint = "delete the object, or whatever controls it; or install a package that does not bring it"

    def __init__(self, message: str, owner: Object) -> None:
        super().__init__(message)
        self.owner = owner


def owners(live: Object | None, name: str, revision: Object, active: bool) -> list[Object]:
    """The owner references of an object with a revision and its package among them."""
    references: list[Object] = list(((live or {}).get("metadata") or {}).get("ownerReferences") or ())
    package = package_owner(revision)
    if package is not None:
        references = _placed(references, {**package, "controller": False})
    if not active:
        return (
            references
            if _has(references, uid_of(revision))
            else [*references, owner_reference(revision, controller=False)]
        )
    for owner in references:
        if owner.get("controller") is True and owner.get("uid") != uid_of(revision):
            controller = f"{owner.get('kind')} {owner.get('name')} (UID {owner.get('uid')})"
            raise AlreadyControlled(f"{name} is already controlled by {controller}{_deletion(live)}", owner)
    return _placed(references, owner_reference(revision))


def _deletion(live: Object | None) -> str:
    """What to add about an object that is being deleted: it can be controlled once it is gone."""
    metadata = (live or {}).get("metadata") or {}
    if not metadata.get("deletionTimestamp"):
        return ""
    finalizers = ", ".join(metadata.get("finalizers") or ())
    reason = (
        f" and waits for its finalizers: {finalizers}; its conditions and events say why"
        if finalizers
        else ""
    )
    return f", and is being deleted{reason}"


def released(live: Object, revision: Object) -> list[Object] | None:
    """The owner references of an object that a revision controls no longer; None where it does not."""
    references: list[Object] = list(live["metadata"].get("ownerReferences") or ())
    own = next((reference for reference in references if reference.get("uid") == uid_of(revision)), None)
    if own is None:
        return [*references, owner_reference(revision, controller=False)]
    return _placed(references, {**own, "controller": False}) if own.get("controller") is True else None


def without_owner(live: Object, owner: Object) -> Object:
    """The object as if one of its owners were not named."""
    metadata = live["metadata"]
    references = [other for other in metadata["ownerReferences"] if other.get("uid") != owner.get("uid")]
    return {**live, "metadata": {**metadata, "ownerReferences": references}}


def is_revision_of(revision: Object, name: str) -> bool:
    """Whether a name is that of a revision of the same package."""
    package, _, identity = name.rpartition("-")
    return bool(identity) and package == name_of(revision).rpartition("-")[0]


def package_owner(revision: Object) -> Object | None:
    """The reference to the package that a revision is of."""
    name = labels_of(revision).get(PACKAGE)
    references = revision["metadata"].get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("name") == name), None)


def _has(references: list[Object], uid: str) -> bool:
    return any(reference.get("uid") == uid for reference in references)


def _placed(references: list[Object], reference: Object) -> list[Object]:
    if not _has(references, reference["uid"]):
        return [*references, reference]
    return [reference if old.get("uid") == reference["uid"] else old for old in references]
