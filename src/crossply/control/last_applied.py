"""What was applied last, so that nothing is applied twice.

An apply that changes nothing still costs a request. After an apply we remember a digest of the wish and the
resource version that came back: while both are the same, the object is as we want it.
"""

from __future__ import annotations

from crossply.values import Object
from crossply.values.digest import of_value


class LastApplied:
    """Digest and resource version of every object we applied, by UID."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, str]] = {}

    def holds(self, live: Object | None, wish: Object) -> bool:
        """Whether the live object is what our last apply of the same wish left."""
        if live is None:
            return False
        metadata = live["metadata"]
        known = self._known.get(metadata.get("uid", ""))
        return known is not None and known == (of_value(wish), metadata.get("resourceVersion"))

    def remember(self, result: Object, wish: Object) -> None:
        """Note what an apply left."""
        metadata = result["metadata"]
        self._known[metadata.get("uid", "")] = (of_value(wish), metadata.get("resourceVersion", ""))

    def refresh(self, live: Object, wish: Object) -> bool:
        """Whether somebody else's change left all we want in place; then it is as good as applied."""
        known = self._known.get(live["metadata"].get("uid", ""))
        if known is None or known[0] != of_value(wish) or not contains(live, wish):
            return False
        self.remember(live, wish)
        return True

    def forget(self, uid: str) -> None:
        """Forget an object that is gone."""
        self._known.pop(uid, None)


def contains(live: object, wish: object) -> bool:
    """Whether everything wished for is there, whatever else is there too.

    Lists must be the same, except that an object may have more owners.
    """
    if isinstance(wish, dict):
        return isinstance(live, dict) and all(
            key in live and (_owners if key == "ownerReferences" else contains)(live[key], value)
            for key, value in wish.items()
        )
    return live == wish


def _owners(live: object, wish: object) -> bool:
    if not isinstance(live, list) or not isinstance(wish, list):
        return live == wish
    return all(any(contains(there, wanted) for there in live) for wanted in wish)


def covers(live: object, wish: object) -> bool:
    """The same, where servers complete the items of lists too, as they do in the template of a Pod."""
    if isinstance(wish, dict):
        return isinstance(live, dict) and all(
            key in live and (_owners if key == "ownerReferences" else covers)(live[key], value)
            for key, value in wish.items()
        )
    if isinstance(wish, list):
        return isinstance(live, list) and len(live) == len(wish) and all(map(covers, live, wish))
    return live == wish
