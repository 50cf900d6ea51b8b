"""Whether each operation can take effect at one instant between its invocation and its completion.

The search is just-in-time linearization (Wing and Gong, Lowe). The resourceVersions fix the order of the
writes, so a configuration is how many writes have happened, and which running reads have not taken effect.
The order is one for all keys: a list is a read of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tests.histories.continuity import Transition
from tests.histories.history import Operation, Outcome, Verb, Violation
from tests.histories.versions import VersionOrder

Waiting = frozenset[int]
_INVOKE, _COMPLETE = 0, 1  # at the same time, an operation may still overlap with one that completes


class Read(NamedTuple):
    """An operation that was true at some index within its time; a refused write is one too."""

    operation: Operation
    holds: Callable[[int], bool]


class _Instant(NamedTuple):
    time: float
    kind: int
    transition: int | None
    read: int | None


def check_linearizable(
    order: VersionOrder, transitions: Sequence[Transition], operations: Sequence[Operation]
) -> int:
    """How many operations were placed; raises Violation at the first one that cannot be."""
    reads = [read for read in (as_read(order, operation) for operation in operations) if read is not None]
    search = _Search(len(transitions), reads)
    for instant in sorted(_instants(transitions, reads), key=lambda instant: (instant.time, instant.kind)):
        if instant.transition is not None:
            possible = search.step_transition(instant.transition, instant.kind)
        else:
            assert instant.read is not None
            possible = search.step_read(instant.read, instant.kind)
        if not possible:
            raise Violation("linearizable", *_explain(transitions, reads, instant))
    return len(transitions) + len(reads)


def as_read(order: VersionOrder, operation: Operation) -> Read | None:
    """What a response shows about the state; None for writes, which are transitions, and unknown outcomes."""
    key, verb, outcome = operation.key, operation.verb, operation.outcome
    if outcome is Outcome.ABSENT:
        return Read(operation, lambda index: order.state(key, index) is None)
    if outcome is Outcome.EXISTS:
        return Read(operation, lambda index: order.state(key, index) is not None)
    if outcome is Outcome.CONFLICT and verb is Verb.UPDATE:
        stale = operation.precondition
        return Read(operation, lambda index: _differs(order, key, index, stale))
    if outcome is Outcome.OK and verb is Verb.GET:
        return Read(operation, lambda index: order.state(key, index) == operation.version)
    if outcome is Outcome.OK and operation.snapshot is not None:
        exact = order.index_at(operation.snapshot.rv)
        return Read(operation, lambda index: index == exact)
    return None


def _differs(order: VersionOrder, key: str, index: int, rv: int | None) -> bool:
    state = order.state(key, index)
    return state is not None and state.rv != rv


def _instants(transitions: Sequence[Transition], reads: Sequence[Read]) -> list[_Instant]:
    instants = []
    for index, transition in enumerate(transitions):
        instants.append(_Instant(transition.invoked, _INVOKE, index, None))
        instants.append(_Instant(transition.completed, _COMPLETE, index, None))
    for number, read in enumerate(reads):
        instants.append(_Instant(read.operation.invoked, _INVOKE, None, number))
        instants.append(_Instant(read.operation.completed, _COMPLETE, None, number))
    return instants


class _Search:
    """All configurations that are possible at one time."""

    def __init__(self, transitions: int, reads: Sequence[Read]) -> None:
        self._invoked = [False] * (transitions + 1)
        self._reads = reads
        self._configurations: dict[int, set[Waiting]] = {0: {frozenset()}}

    def step_transition(self, index: int, kind: int) -> bool:
        """A write is invoked, or completed: from then on it has happened. Whether anything is possible."""
        if kind == _INVOKE:
            self._invoked[index] = True
            self._advance()
        else:
            for behind in [count for count in self._configurations if count <= index]:
                del self._configurations[behind]
        return bool(self._configurations)

    def step_read(self, number: int, kind: int) -> bool:
        """A read is invoked or completed: by then it took effect. Whether anything is possible."""
        if kind == _INVOKE:
            for index, sets in self._configurations.items():
                self._configurations[index] = {waiting | {number} for waiting in sets}
            self._advance()
        else:
            remaining = {
                index: {waiting for waiting in sets if number not in waiting}
                for index, sets in self._configurations.items()
            }
            self._configurations = {index: sets for index, sets in remaining.items() if sets}
        return bool(self._configurations)

    def _advance(self) -> None:
        index = min(self._configurations)
        while index <= max(self._configurations):
            sets = self._configurations.get(index)
            if sets:
                sets = self._configurations[index] = _minimal(
                    {self._satisfied(index, waiting) for waiting in sets}
                )
                if self._invoked[index]:
                    self._configurations.setdefault(index + 1, set()).update(sets)
            index += 1

    def _satisfied(self, index: int, waiting: Waiting) -> Waiting:
        return frozenset(number for number in waiting if not self._reads[number].holds(index))


def _minimal(sets: set[Waiting]) -> set[Waiting]:
    """Without those that wait for more than another one does: they can do nothing that it cannot."""
    return {waiting for waiting in sets if not any(other < waiting for other in sets)}


_CONTEXT = 4
"""How many versions and reads are shown around an operation that cannot be placed."""


def _explain(
    transitions: Sequence[Transition], reads: Sequence[Read], instant: _Instant
) -> tuple[str, list[object]]:
    """The operation without a possible order, the writes of its key before and during it, and its reads."""
    failed: Transition | Operation
    if instant.read is not None:
        failed = reads[instant.read].operation
        key, message = (
            failed.key,
            "no moment between its invocation and its completion makes this answer true",
        )
    else:
        assert instant.transition is not None
        failed = transitions[instant.transition]
        key, message = (
            failed.version.key,
            "this write completed before an earlier one of the order can have begun",
        )
    writes = [transition for transition in transitions if key in ("", transition.version.key)]
    before = [transition for transition in writes if transition.completed < failed.invoked]
    during = [
        transition
        for transition in writes
        if transition.completed >= failed.invoked and transition.invoked <= instant.time
    ]
    beside = [
        read.operation
        for read in reads
        if read.operation.key == key
        and read.operation.invoked <= instant.time
        and read.operation.completed >= failed.invoked
        and read.operation is not failed
    ]
    return message, [failed, *before[-_CONTEXT:], *during[:_CONTEXT], *beside[:_CONTEXT]]
