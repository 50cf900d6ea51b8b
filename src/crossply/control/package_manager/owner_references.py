"""Who owns what a package brings: the revision that is active controls it, the package keeps it.

The package is an owner beside its revisions, so that a CRD and all objects of its kind outlive the revision
that brought it. Everything here is pure.
"""

from __future__ import annotations

from crossply.compose.metadata import labels_of, owner_reference, uid_of
from crossply.control.calls.function_revision import PACKAGE
from crossply.errors import CrossplyError
from crossply.values import Object


class AlreadyControlled(CrossplyError):
    """An object of a package exists already, and is controlled by somebody else."""

    code = "CP-852"
    hint = "delete the object, or whatever controls it; or install a package that does not bring it"

    def __init__(self, message: str, owner: Object) -> None:
        super().__init__(message)
        self.owner = owner


def owners(live: Object | None, name: str, revision: Object, active: bool) -> list[Object]:
    """The owner references of an object with a revision and its package among them."""
    found: list[Object] = list(((live or {}).get("metadata") or {}).get("ownerReferences") or ())
    package = package_owner(revision)
    if package is not None:
        found = _placed(found, {**package, "controller": False})
    if not active:
        return (
            found if _has(found, uid_of(revision)) else [*found, owner_reference(revision, controller=False)]
        )
    for owner in found:
        if owner.get("controller") is True and owner.get("uid") != uid_of(revision):
            told = f"{owner.get('kind')} {owner.get('name')} (UID {owner.get('uid')})"
            raise AlreadyControlled(f"{name} is already controlled by {told}{_deletion(live)}", owner)
    return _placed(found, owner_reference(revision))


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
    found: list[Object] = list(live["metadata"].get("ownerReferences") or ())
    own = next((each for each in found if each.get("uid") == uid_of(revision)), None)
    if own is None:
        return [*found, owner_reference(revision, controller=False)]
    return _placed(found, {**own, "controller": False}) if own.get("controller") is True else None


def package_owner(revision: Object) -> Object | None:
    """The reference to the package that a revision is of."""
    name = labels_of(revision).get(PACKAGE)
    references = revision["metadata"].get("ownerReferences") or ()
    return next((each for each in references if each.get("name") == name), None)


def _has(found: list[Object], uid: str) -> bool:
    return any(each.get("uid") == uid for each in found)


def _placed(found: list[Object], reference: Object) -> list[Object]:
    if not _has(found, reference["uid"]):
        return [*found, reference]
    return [reference if each.get("uid") == reference["uid"] else each for each in found]
