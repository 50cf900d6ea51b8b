"""Owner references: an object goes with its owners, and one of them may be its controller."""

from __future__ import annotations

from crossply.values import Object


def reference_to(api_version: str, kind: str, name: str, uid: str) -> Object:
    """A reference to one owner of several."""
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid}


def as_controller(reference: Object) -> Object:
    """The same owner as the one that controls the object, and whose foreground deletion waits for it."""
    return {**reference, "controller": True, "blockOwnerDeletion": True}
