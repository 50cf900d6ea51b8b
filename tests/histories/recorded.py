"""Short histories for tests of the checker: right ones, which tests then falsify."""

from __future__ import annotations

from tests.histories.history import (
    TOKEN,
    UNKNOWN_COMPLETION,
    Operation,
    Outcome,
    Snapshot,
    Verb,
    Version,
    WatchEvent,
    WatchSegment,
    as_fields,
)

KEY, UID = "k", "uid-1"


def version(rv: int, token: str, uid: str = UID, *, key: str = KEY, deleted: bool = False) -> Version:
    """A version with the token of its write as its only field."""
    return Version(key, rv, uid, as_fields({TOKEN: token}), deleted)


def write(verb: Verb, at: float, answer: Version, precondition: int | None = None) -> Operation:
    """An acknowledged write that took one second."""
    return Operation(
        "writer", verb, answer.key, at, at + 1, Outcome.OK, answer.token, precondition, version=answer
    )


def create(at: float, answer: Version) -> Operation:
    return write(Verb.CREATE, at, answer)


def update(at: float, answer: Version, precondition: int) -> Operation:
    return write(Verb.UPDATE, at, answer, precondition)


def delete(at: float, uid: str = UID) -> Operation:
    return Operation("writer", Verb.DELETE, KEY, at, at + 1, Outcome.OK, uid=uid)


def get(at: float, answer: Version | None) -> Operation:
    """A read that took one second; None is a 404."""
    outcome = Outcome.ABSENT if answer is None else Outcome.OK
    return Operation("reader", Verb.GET, KEY, at, at + 1, outcome, version=answer)


def listed(at: float, rv: int, *versions: Version) -> Operation:
    return Operation("reader", Verb.LIST, "", at, at + 1, Outcome.OK, snapshot=Snapshot(rv, versions))


def broken(operation: Operation) -> Operation:
    """The same request without a response."""
    return operation._replace(outcome=Outcome.UNKNOWN, completed=UNKNOWN_COMPLETION, version=None, uid="")


def answered(operation: Operation, outcome: Outcome) -> Operation:
    """The same request, which was refused."""
    return operation._replace(outcome=outcome, version=None, uid="")


def watched(*versions: Version, start: int = 0) -> WatchSegment:
    """A watch that showed these versions, with the types that they should have."""
    events = []
    present: set[str] = set()
    for shown in versions:
        kind = "DELETED" if shown.deleted else "MODIFIED" if shown.key in present else "ADDED"
        (present.discard if shown.deleted else present.add)(shown.key)
        events.append(WatchEvent(kind, shown.rv, shown))
    return WatchSegment("watcher", start, events)
