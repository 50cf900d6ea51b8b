"""The dependency graph of objects with owners.

It has only keys and the owners' uids. Whether an owner exists is looked up in the store.
"""

from __future__ import annotations

from sys import intern
from typing import Any

from crossply.apiserver.storage import Key
from crossply.values import Object

Owners = dict[str, bool]
"""The uids of an object's owners, and whether it blocks the deletion of each."""


def owner_references(metadata: Object) -> list[Object]:
    references: list[Object] = metadata.get("ownerReferences") or []
    return references


def owners_of(metadata: Object) -> Owners:
    return {intern(ref["uid"]): _blocks(ref) for ref in owner_references(metadata) if ref.get("uid")}


def _blocks(reference: dict[str, Any]) -> bool:
    return reference.get("blockOwnerDeletion") is True


class OwnerIndex:
    __slots__ = ("_dependents", "_owners")

    def __init__(self) -> None:
        self._owners: dict[Key, Owners] = {}
        self._dependents: dict[str, dict[Key, None]] = {}

    def __bool__(self) -> bool:
        return bool(self._owners)

    def __contains__(self, key: Key) -> bool:
        return key in self._owners

    def owners(self, key: Key) -> Owners:
        return self._owners.get(key) or {}

    def dependents(self, uid: str) -> list[Key]:
        return list(self._dependents.get(uid) or ())

    def blocking(self, uid: str) -> list[Key]:
        """The dependents that must be deleted before this owner."""
        return [key for key in self._dependents.get(uid) or () if self._owners[key].get(uid)]

    def put(self, key: Key, owners: Owners) -> None:
        """Set the owners of an object."""
        before = self._owners.get(key) or {}
        for uid in before.keys() - owners.keys():
            self._drop(uid, key)
        for uid in owners.keys() - before.keys():
            self._dependents.setdefault(uid, {})[key] = None
        if owners:
            self._owners[key] = owners
        else:
            self._owners.pop(key, None)

    def remove(self, key: Key) -> Owners:
        """Remove an object; returns the owners it had."""
        before = self.owners(key)
        self.put(key, {})
        return before

    def _drop(self, uid: str, key: Key) -> None:
        dependents = self._dependents[uid]
        dependents.pop(key, None)
        if not dependents:
            del self._dependents[uid]
