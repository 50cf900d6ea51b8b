"""What was applied last, so that nothing is applied twice.

An apply that changes nothing still costs a request. After an apply we store a digest of the content and the
resource version that came back: while both are the same, the object is as we want it.
"""

from __future__ import annotations

import hashlib

import orjson

from crossply.values import Object
from crossply.values.digest import of_value


class LastApplied:
    """Digest and resource version of every object we applied, by UID."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, tuple[bytes, str]] = {}

    def holds(self, live: Object | None, desired: Object) -> bool:
        """Whether the live object is the result of our last apply of the same desired object."""
        if live is None:
            return False
        metadata = live["metadata"]
        known = self._known.get(metadata.get("uid", ""))
        return known is not None and known == (_digest(desired), metadata.get("resourceVersion"))

    def remember(self, result: Object, desired: Object) -> None:
        """Note what an apply left."""
        metadata = result["metadata"]
        self._known[metadata.get("uid", "")] = (_digest(desired), metadata.get("resourceVersion", ""))

    def refresh(self, live: Object, desired: Object) -> bool:
        """Whether another client's change left all desired fields in place; then no apply is needed."""
        known = self._known.get(live["metadata"].get("uid", ""))
        if known is None or known[0] != _digest(desired) or not contains(live, desired):
            return False
        self.remember(live, desired)
        return True

    def forget(self, uid: str) -> None:
        """Forget an object that is gone."""
        self._known.pop(uid, None)


def _digest(desired: Object) -> bytes:
    """The same for the same object, whatever the order of its keys."""
    try:
        encoded = orjson.dumps(desired, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # A number or a text that orjson does not write; our own encoder does, in ten times as long.
        return of_value(desired).encode()
    return hashlib.sha256(encoded).digest()


def contains(live: object, desired: object) -> bool:
    """Whether everything wished for is there, whatever else is there too.

    Lists must be the same, except that an object may have more owners.
    """
    if isinstance(desired, dict):
        return isinstance(live, dict) and all(
            key in live and (_owners if key == "ownerReferences" else contains)(live[key], value)
            for key, value in desired.items()
        )
    return live == desired


def _owners(live: object, desired: object) -> bool:
    if not isinstance(live, list) or not isinstance(desired, list):
        return live == desired
    return all(any(contains(there, owner) for there in live) for owner in desired)


def covers(live: object, desired: object) -> bool:
    """The same, where servers complete the items of lists too, as they do in the template of a Pod."""
    if isinstance(desired, dict):
        return isinstance(live, dict) and all(
            key in live and (_owners if key == "ownerReferences" else covers)(live[key], value)
            for key, value in desired.items()
        )
    if isinstance(desired, list):
        return isinstance(live, list) and len(live) == len(desired) and all(map(covers, live, desired))
    return live == desired
