"""Each version continues the one before it, and comes from exactly one possible write.

This finds lost writes, two winners of one compare-and-swap, objects that come back after their deletion, and
refused writes that took effect. `linearizability` checks the order in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.histories.history import (
    TOKEN,
    UNKNOWN_COMPLETION,
    Fields,
    Operation,
    Outcome,
    Verb,
    Version,
    Violation,
    as_fields,
)
from tests.histories.versions import VersionOrder

CREATING = (Verb.CREATE, Verb.APPLY)
CHANGING = (Verb.UPDATE, Verb.REPLACE, Verb.PATCH, Verb.APPLY)


class Transition(NamedTuple):
    """A version with the time in which it must have come into effect."""

    version: Version
    invoked: float
    completed: float

    def __str__(self) -> str:
        return f"{self.invoked:.4f} to {self.completed:.4f} written: {self.version}"


def match_writes(order: VersionOrder, operations: Sequence[Operation]) -> list[Transition]:
    """The transitions in order; raises Violation where the versions are no history of these writes."""
    authors = {operation.token: operation for operation in operations if operation.token}
    deleters = _Deleters(operations)
    used: dict[str, Version] = {}
    uids: dict[str, str] = {}
    current: dict[str, Version] = {}
    transitions = []
    for version in order.versions:
        before = current.get(version.key)
        if version.deleted:
            _check_deletion(version, before)
            current.pop(version.key)
            author = deleters.of(version)
        else:
            author = _author(version, authors)
            if version.token in used:
                raise Violation(
                    "written-once",
                    f"one write made two versions: {author.token}",
                    [used[version.token], version],
                )
            _check_author(version, before, author)
            if before is None and version.uid in uids:
                raise Violation(
                    "resurrected", f"uid {version.uid} was deleted and is back", [version, author]
                )
            used[version.token] = version
            uids[version.uid] = version.key
            current[version.key] = version
        transitions.append(Transition(version, author.invoked, author.completed))
    deleters.check_all_observed()
    return transitions


def _author(version: Version, authors: dict[str, Operation]) -> Operation:
    author = authors.get(version.token)
    if author is None or author.key != version.key:
        raise Violation("no-author", "nobody wrote this version", [version])
    return author


def _check_deletion(version: Version, before: Version | None) -> None:
    if before is None or before.uid != version.uid:
        raise Violation("deletion", "a deletion of what was not there", [before, version])
    if before.fields != version.fields:
        raise Violation(
            "lost-write", "a deletion shows other fields than the version before", [before, version]
        )


def _check_author(version: Version, before: Version | None, author: Operation) -> None:
    piece = [before, author, version]
    if author.outcome not in (Outcome.OK, Outcome.UNKNOWN):
        raise Violation("refused-effect", f"a write answered with {author.outcome} took effect", piece)
    if author.outcome is Outcome.OK and author.version != version:
        raise Violation("lost-write", "the version is not the one that was acknowledged", piece)
    if author.verb not in (CREATING if before is None else CHANGING):
        raise Violation("impossible-write", f"{author.verb} cannot have made this version", piece)
    if before is not None and before.uid != version.uid:
        raise Violation("lost-write", "another object stands in place of one that nobody deleted", piece)
    if author.precondition is not None and (before is None or before.rv != author.precondition):
        raise Violation("compare-and-swap", "the write names another version than the one it replaced", piece)
    if version.fields != _result(author, before):
        raise Violation("lost-write", f"the fields should be {_result(author, before)}", piece)


def _result(author: Operation, before: Version | None) -> Fields:
    """The fields that a write leaves behind."""
    merges = author.verb in (Verb.PATCH, Verb.APPLY)
    return as_fields(
        {**dict(before.fields if merges and before else ()), **dict(author.sent), TOKEN: author.token}
    )


class _Deleters:
    """Which delete made which deletion: the answer to a delete names the uid, a broken one may be any."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._acknowledged: dict[str, Operation] = {}
        self._unknown: dict[str, list[Operation]] = {}
        self._observed: set[str] = set()
        for operation in operations:
            if operation.verb is not Verb.DELETE:
                continue
            if operation.outcome is Outcome.OK:
                self._acknowledge(operation)
            elif operation.outcome is Outcome.UNKNOWN:
                self._unknown.setdefault(operation.key, []).append(operation)
        for pending in self._unknown.values():
            pending.sort(key=lambda operation: -operation.invoked)

    def _acknowledge(self, operation: Operation) -> None:
        other = self._acknowledged.setdefault(operation.uid, operation)
        if other is not operation:
            raise Violation(
                "two-winners", f"two deletes of uid {operation.uid} succeeded", [other, operation]
            )

    def of(self, version: Version) -> Operation:
        """The delete behind a deletion: of the broken ones the earliest, which leaves others most room."""
        self._observed.add(version.uid)
        acknowledged = self._acknowledged.get(version.uid)
        if acknowledged is not None:
            return acknowledged
        pending = self._unknown.get(version.key, [])
        if not pending:
            raise Violation("no-author", "nobody deleted this object", [version])
        return pending.pop()._replace(completed=UNKNOWN_COMPLETION)

    def check_all_observed(self) -> None:
        """Every acknowledged deletion happened."""
        for uid, operation in self._acknowledged.items():
            if uid not in self._observed:
                raise Violation("lost-write", f"the deletion of uid {uid} never happened", [operation])
