"""An object of the imagined world: what it really is, and what it would be."""

from __future__ import annotations

from typing import Any

from crossply.values import Object
from crossply.values.differences import carried

_IDENTITY = ("uid", "creationTimestamp")


class Imagined:
    """One object. None stands for an object that does not exist."""

    __slots__ = ("applied", "before", "now")

    def __init__(self, before: Object | None) -> None:
        self.before = before
        """What the server has."""
        self.now = before
        """What it would have."""
        self.applied: dict[str, Object] = {}
        """What the server answered to each manager's last apply."""

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was imagined of it yet, so that the server's answer is the whole truth."""
        return self.now is self.before

    def after_apply(self, manager: str, answer: Object) -> Object:
        """What it is after an apply, which the server tried on the object that it really has."""
        base = self.applied.get(manager) or self.before or {}
        self.applied[manager] = answer
        if self.is_untouched or self.now is None:
            return answer
        return carried(base, answer, self.now)

    def with_status(self, status: Any) -> Object:
        """What it is with another status."""
        assert self.now is not None
        return {**self.now, "status": status}

    def is_changed_by(self, result: Object) -> bool:
        """Whether a write would change anything, as the server sees it."""
        return self.now is None or _content(self.now) != _content(result)


def identified(result: Object, known: Object | None, version: int) -> Object:
    """The result of a write as the next version of an object. A dry run makes a new uid every time."""
    metadata = {**result["metadata"], "resourceVersion": str(version)}
    for field in _IDENTITY:
        if known is not None and field in known["metadata"]:
            metadata[field] = known["metadata"][field]
    return {**result, "metadata": metadata}


def at_version(obj: Object, live: Object | None) -> Object:
    """The object as an update of the one that the server has, or as a new one."""
    metadata = {**obj["metadata"]}
    if live is None:
        for field in ("resourceVersion", "uid", "creationTimestamp", "managedFields", "generation"):
            metadata.pop(field, None)
    else:
        metadata["resourceVersion"] = live["metadata"]["resourceVersion"]
    return {**obj, "metadata": metadata}


def _content(obj: Object) -> Object:
    """All of an object but its version, and the times at which its fields were written."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _BOOKKEEPING}
    owners = [
        {key: value for key, value in entry.items() if key != "time"}
        for entry in obj["metadata"].get("managedFields") or ()
    ]
    return {**obj, "metadata": {**metadata, "managedFields": owners}}


_BOOKKEEPING = ("resourceVersion", "uid", "creationTimestamp")
