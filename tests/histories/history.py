"""What clients record: operations with their invocation and completion, and what watches delivered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

UNKNOWN_COMPLETION = math.inf
"""The completion of an operation without a response: it may take effect at any later time."""
TOKEN = "write"
"""The field that holds the unique token of the write that made a version."""

Fields = tuple[tuple[str, str], ...]


class Verb(StrEnum):
    """The request of a client."""

    CREATE = "create"
    GET = "get"
    UPDATE = "update"  # compare-and-swap: a PUT with a resourceVersion
    REPLACE = "replace"  # a PUT without one
    PATCH = "patch"
    APPLY = "apply"
    DELETE = "delete"
    LIST = "list"
    PAGES = "pages"


class Outcome(StrEnum):
    """The outcome that a client knows."""

    OK = "ok"
    ABSENT = "absent"  # 404
    EXISTS = "exists"  # 409 to a create
    CONFLICT = "conflict"  # 409 to a write
    REFUSED = "refused"  # the server promises that it had no effect: 429, 507
    UNKNOWN = "unknown"  # the connection broke, or a 5xx


class Version(NamedTuple):
    """One state of one object. A deletion is a version too: it has the last fields of the object."""

    key: str
    rv: int
    uid: str
    fields: Fields
    deleted: bool = False

    @property
    def token(self) -> str:
        """The token of the write that set the fields."""
        return dict(self.fields).get(TOKEN, "")

    def __str__(self) -> str:
        fields = " ".join(f"{name}={value}" for name, value in self.fields)
        return f"{self.key} at {self.rv} (uid {self.uid[:8]}): {'DELETED' if self.deleted else fields}"


class Snapshot(NamedTuple):
    """The answer to a list."""

    rv: int
    versions: Sequence[Version]


class Operation(NamedTuple):
    """One request of one client; times are seconds of one monotonic clock."""

    client: str
    verb: Verb
    key: str
    invoked: float
    completed: float
    outcome: Outcome
    token: str = ""
    precondition: int | None = None
    """The resourceVersion that a compare-and-swap names."""
    sent: Fields = ()
    """The fields in the body of a write."""
    version: Version | None = None
    """The object in the answer."""
    uid: str = ""
    """The uid in the answer to a delete."""
    snapshot: Snapshot | None = None

    def __str__(self) -> str:
        condition = "" if self.precondition is None else f" if at {self.precondition}"
        request = " ".join(filter(None, (self.verb, self.key, self.token))) + condition
        answer = self.version or self.uid or ("" if self.snapshot is None else f"at {self.snapshot.rv}")
        times = f"{self.invoked:.4f} to {self.completed:.4f}"
        return f"{times} {self.client}: {request} -> {self.outcome} {answer}".rstrip()


class WatchEvent(NamedTuple):
    """An event, or a bookmark, which has a resourceVersion only."""

    type: str
    rv: int
    version: Version | None = None

    def __str__(self) -> str:
        return f"{self.type} {self.version or self.rv}"


class WatchSegment(NamedTuple):
    """What one watcher saw from a list at `start` until the history that it needed was gone (410)."""

    watcher: str
    start: int
    events: Sequence[WatchEvent]

    @property
    def end(self) -> int:
        """The newest resourceVersion that the watcher has reached."""
        return self.events[-1].rv if self.events else self.start


class Violation(Exception):
    """A broken promise, with the piece of history that shows it."""

    def __init__(self, rule: str, message: str, piece: Sequence[object] = ()) -> None:
        super().__init__(f"{rule}: {message}")
        self.rule = rule
        self.piece = tuple(piece)


def as_fields(data: dict[str, str]) -> Fields:
    """Fields in an order of their own, so that equal ones compare equal."""
    return tuple(sorted(data.items()))
