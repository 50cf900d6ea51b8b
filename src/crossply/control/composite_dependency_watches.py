"""What composite resources depend on beside what they are made of: a change of it enqueues them.

These are the resources that functions required, the objects that steps take their input from, credentials,
and connection secrets. Each kind is watched once a namespace, in many namespaces once for all of them: a
watch is a connection. Only metadata is kept of its objects.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import NamedTuple

import orjson

from crossply.kube.core_kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, CRD, NAMESPACE, ROLE, ROLE_BINDING
from crossply.kube.discovery import UnknownKind
from crossply.kube.failures import Forbidden, NotFound, NotServed
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.kube.shared_informers import SharedInformers
from crossply.values import Object
from crossply.values.backoff import pause_after


class Interest(NamedTuple):
    """Some objects of a kind: one of a name, those with labels, or all."""

    kind: Kind
    namespace: str = ""
    """Empty for every namespace."""
    name: str = ""
    labels: tuple[tuple[str, str], ...] = ()

    def includes(self, metadata: Object) -> bool:
        """Whether an object is one of them."""
        if self.name and metadata["name"] != self.name:
            return False
        if self.namespace and metadata.get("namespace") != self.namespace:
            return False
        labels = metadata.get("labels") or {}
        return all(labels.get(key) == value for key, value in self.labels)


Enqueue = Callable[[str], None]
"""Enqueues a dependent, and says what changed."""
NEW = "something else is required"
UNSETTLED = 5
"""How often in a row the dependencies of an object may change and enqueue it at once."""
LONGEST_PAUSE = 60.0
NAMESPACES_OF_A_KIND = 16
"""So many namespaces of a kind have a watch of their own; more share one of the whole cluster."""

Place = tuple[Kind, str]
Interests = frozenset[Interest]


class _WatchedKind:
    """One watch, and who waits for what of it."""

    def __init__(self, cache: Informer) -> None:
        self.cache = cache
        self._waiting: dict[tuple[str, str], dict[Interest, dict[Hashable, None]]] = {}
        """By namespace and name, each empty where an interest does not say."""
        self.ready: asyncio.Task[None] | None = None

    def join(self, dependent: Hashable, interest: Interest) -> None:
        key = (interest.namespace, interest.name)
        self._waiting.setdefault(key, {}).setdefault(interest, {})[dependent] = None

    def has(self, dependent: Hashable, interest: Interest) -> bool:
        return dependent in self._waiting.get((interest.namespace, interest.name), {}).get(interest, ())

    def leave(self, dependent: Hashable, interest: Interest) -> None:
        key = (interest.namespace, interest.name)
        interests = self._waiting[key]
        del interests[interest][dependent]
        if not interests[interest]:
            del interests[interest]
        if not interests:
            del self._waiting[key]

    def is_empty(self) -> bool:
        return not self._waiting

    def waiting_for(self, metadata: Object) -> list[Hashable]:
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        dependents: list[Hashable] = []
        for key in {(namespace, name), (namespace, ""), ("", name), ("", "")}:
            for interest, waiting in self._waiting.get(key, {}).items():
                if interest.includes(metadata):
                    dependents.extend(waiting)
        return dependents

    def dependents(self) -> list[Hashable]:
        groups = (group for interests in self._waiting.values() for group in interests.values())
        return [dependent for group in groups for dependent in group]


class Dependencies:
    """Who depends on what."""

    def __init__(self, informers: SharedInformers) -> None:
        self._informers = informers
        self._watched: dict[Place, _WatchedKind] = {}
        self._namespaces: Counter[Kind] = Counter()
        """How many namespaces of a kind have a watch of their own."""
        self._interests: dict[Hashable, Interests] = {}
        self._enqueue: dict[Hashable, Enqueue] = {}
        self._unsettled: dict[Hashable, int] = {}
        """How often in a row the dependencies of an object changed."""

    def watch(self, dependent: Hashable, interests: Iterable[Interest], enqueue: Enqueue) -> None:
        """Enqueue `dependent` when one of these changes, and no longer for what it depended on before.

        What is new may have changed between being read and being watched, so that enqueues it, too. One that
        depends on something else each time would never settle: it is enqueued ever later.
        """
        desired, before = frozenset(interests), self._interests.get(dependent, frozenset())
        if desired == before:
            self._unsettled.pop(dependent, None)
            return
        self._unsettled[dependent] = self._unsettled.get(dependent, 0) + 1
        self._interests[dependent], self._enqueue[dependent] = desired, enqueue
        synced = [self._join(dependent, interest) for interest in desired - before]
        # Afterwards: a watch that is needed before and after is kept.
        for interest in before - desired:
            self._leave(dependent, interest)
        if any(synced):
            self._enqueue_new([dependent])

    def forget(self, dependent: Hashable) -> None:
        """Forget a dependent that is gone."""
        for interest in self._interests.pop(dependent, frozenset()):
            self._leave(dependent, interest)
        self._enqueue.pop(dependent, None)
        self._unsettled.pop(dependent, None)

    def _join(self, dependent: Hashable, interest: Interest) -> bool:
        """Add a dependent to a watch; whether the watch has synced."""
        place = self._place_to_join(interest)
        watched = self._watched.get(place)
        if watched is None:
            cache = self._informers.acquire(interest.kind, Selection(place[1], metadata_only=True))
            watched = self._watched[place] = _WatchedKind(cache)
            if place[1]:
                self._namespaces[place[0]] += 1
            watched.ready = asyncio.create_task(self._start_watch(watched))
        watched.join(dependent, interest)
        return watched.cache.synced.is_set()

    def _place_to_join(self, interest: Interest) -> Place:
        place = (interest.kind, interest.namespace)
        if not interest.namespace or place in self._watched:
            return place
        has_room = self._namespaces[interest.kind] < NAMESPACES_OF_A_KIND
        return place if has_room else (interest.kind, "")

    async def _start_watch(self, watched: _WatchedKind) -> None:
        await watched.cache.synced.wait()
        watched.cache.subscribe(lambda _, key, old, new: self._handle(watched, old, new))
        self._enqueue_new(watched.dependents())

    def _enqueue_new(self, dependents: Iterable[Hashable]) -> None:
        """Enqueue those that depend on something new; one that does so again and again has to wait."""
        loop = asyncio.get_running_loop()
        for dependent in dependents:
            excess = self._unsettled.get(dependent, 0) - UNSETTLED
            if excess <= 0:
                self._enqueue_all([dependent], NEW)
            else:
                pause = pause_after(excess, 1.0, LONGEST_PAUSE)
                loop.call_later(pause, self._enqueue_all, [dependent], NEW)

    def _handle(self, watched: _WatchedKind, old: bytes | None, new: bytes | None) -> None:
        """An object counts as what it was and as what it is: it may have just lost a label."""
        for data in (old, new):
            if data is not None:
                metadata = orjson.loads(data)["metadata"]
                source = f"required {watched.cache.kind.kind} {metadata['name']} changed"
                self._enqueue_all(watched.waiting_for(metadata), source)

    def _enqueue_all(self, waiting: Iterable[Hashable], source: str) -> None:
        for dependent in waiting:
            if dependent in self._enqueue:
                self._enqueue[dependent](source)

    def _leave(self, dependent: Hashable, interest: Interest) -> None:
        place = (interest.kind, interest.namespace)
        own = self._watched.get(place)
        if own is None or not own.has(dependent, interest):
            place = (interest.kind, "")
        watched = self._watched[place]
        watched.leave(dependent, interest)
        if watched.is_empty():
            del self._watched[place]
            if place[1]:
                self._namespaces[place[0]] -= 1
            if watched.ready is not None:
                watched.ready.cancel()
            self._informers.release(watched.cache)


SETTLING_SECONDS = 2.0
"""API servers serve a new kind, and apply a new role, shortly after they report it."""
KINDS = frozenset({Interest(CRD)})
NAMESPACES = frozenset({Interest(NAMESPACE)})
RIGHTS = frozenset(Interest(kind) for kind in (CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING))


def awaited_after(problem: BaseException) -> set[Interest]:
    """What may let a run succeed that ended like this."""
    interests: set[Interest] = set()
    for cause in _causes(problem):
        if isinstance(cause, UnknownKind | NotServed):
            interests |= KINDS
        elif isinstance(cause, NotFound):
            interests |= NAMESPACES
        elif isinstance(cause, Forbidden):
            interests |= RIGHTS
    return interests


def takes_effect_later(interests: Iterable[Interest]) -> bool:
    """Whether a change of these has its effect only a moment after it is known."""
    return any(interest in KINDS or interest in RIGHTS for interest in interests)


def _causes(problem: BaseException | None) -> Iterator[BaseException]:
    while problem is not None:
        yield problem
        problem = problem.__cause__ or problem.__context__
