"""What composite resources depend on beside what they are made of: a change of it wakes them.

That is what functions required or wanted watched, the objects that steps take their input from, credentials,
and connection secrets. Each kind is watched once a namespace, in many namespaces once for all of them: a
watch is a connection. Only metadata is kept of its objects.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import NamedTuple

import orjson

from crossply.control.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CRD,
    NAMESPACE,
    ROLE,
    ROLE_BINDING,
)
from crossply.kube.discovery import UnknownKind
from crossply.kube.failures import Forbidden, NotFound, NotServed
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.selection import Selection
from crossply.kube.shared_informers import SharedInformers
from crossply.values import Object


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


UNSETTLED = 5
"""So often in a row somebody may come to depend on something else, and is woken at once."""
LONGEST_PAUSE = 60.0
NAMESPACES_OF_A_KIND = 16
"""So many namespaces of a kind have a watch of their own; more share one of the whole cluster."""

Place = tuple[Kind, str]
Interests = frozenset[Interest]


class _Followed:
    """One watch, and who waits for what of it."""

    def __init__(self, cache: Informer) -> None:
        self.cache = cache
        self._waiting: dict[tuple[str, str], dict[Interest, dict[Hashable, None]]] = {}
        """By namespace and name, each empty where an interest does not say."""
        self.ready: asyncio.Task[None] | None = None

    def join(self, who: Hashable, interest: Interest) -> None:
        key = (interest.namespace, interest.name)
        self._waiting.setdefault(key, {}).setdefault(interest, {})[who] = None

    def has(self, who: Hashable, interest: Interest) -> bool:
        return who in self._waiting.get((interest.namespace, interest.name), {}).get(interest, ())

    def leave(self, who: Hashable, interest: Interest) -> None:
        key = (interest.namespace, interest.name)
        interests = self._waiting[key]
        del interests[interest][who]
        if not interests[interest]:
            del interests[interest]
        if not interests:
            del self._waiting[key]

    def is_empty(self) -> bool:
        return not self._waiting

    def waiting_for(self, metadata: Object) -> list[Hashable]:
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        found: list[Hashable] = []
        for key in {(namespace, name), (namespace, ""), ("", name), ("", "")}:
            for interest, waiting in self._waiting.get(key, {}).items():
                if interest.includes(metadata):
                    found.extend(waiting)
        return found

    def everybody(self) -> list[Hashable]:
        groups = (group for interests in self._waiting.values() for group in interests.values())
        return [who for group in groups for who in group]


class Dependencies:
    """Who depends on what."""

    def __init__(self, caches: SharedInformers) -> None:
        self._caches = caches
        self._followed: dict[Place, _Followed] = {}
        self._namespaces: Counter[Kind] = Counter()
        """How many namespaces of a kind have a watch of their own."""
        self._interests: dict[Hashable, Interests] = {}
        self._wake: dict[Hashable, Callable[[], None]] = {}
        self._unsettled: dict[Hashable, int] = {}
        """How often in a row somebody came to depend on something else."""

    def follow(self, who: Hashable, interests: Iterable[Interest], wake: Callable[[], None]) -> None:
        """From now on, wake `who` when one of these changes, and no longer for what it followed before.

        What is new to `who` may have changed between being read and being followed, so that wakes it, too.
        One that depends on something else each time would never come to rest: it is woken ever later.
        """
        wanted, before = frozenset(interests), self._interests.get(who, frozenset())
        if wanted == before:
            self._unsettled.pop(who, None)
            return
        self._unsettled[who] = self._unsettled.get(who, 0) + 1
        self._interests[who], self._wake[who] = wanted, wake
        synced = [self._join(who, interest) for interest in wanted - before]
        # Afterwards: a watch that is needed before and after goes on.
        for interest in before - wanted:
            self._leave(who, interest)
        if any(synced):
            self._wake_followers([who])

    def forget(self, who: Hashable) -> None:
        """It depends on nothing any more."""
        for interest in self._interests.pop(who, frozenset()):
            self._leave(who, interest)
        self._wake.pop(who, None)
        self._unsettled.pop(who, None)

    def _join(self, who: Hashable, interest: Interest) -> bool:
        """Wait with others; whether what has changed until now was told already."""
        place = self._place_to_join(interest)
        followed = self._followed.get(place)
        if followed is None:
            cache = self._caches.acquire(interest.kind, Selection(place[1], metadata_only=True))
            followed = self._followed[place] = _Followed(cache)
            if place[1]:
                self._namespaces[place[0]] += 1
            followed.ready = asyncio.create_task(self._begin(followed))
        followed.join(who, interest)
        return followed.cache.synced.is_set()

    def _place_to_join(self, interest: Interest) -> Place:
        place = (interest.kind, interest.namespace)
        if not interest.namespace or place in self._followed:
            return place
        has_room = self._namespaces[interest.kind] < NAMESPACES_OF_A_KIND
        return place if has_room else (interest.kind, "")

    async def _begin(self, followed: _Followed) -> None:
        await followed.cache.synced.wait()
        followed.cache.subscribe(lambda _, key, old, new: self._notice(followed, old, new))
        self._wake_followers(followed.everybody())

    def _wake_followers(self, followers: Iterable[Hashable]) -> None:
        """Wake those who follow something new; who does so again and again has to wait."""
        loop = asyncio.get_running_loop()
        for who in followers:
            excess = self._unsettled.get(who, 0) - UNSETTLED
            if excess <= 0:
                self._wake_all([who])
            else:
                loop.call_later(min(2.0 ** (excess - 1), LONGEST_PAUSE), self._wake_all, [who])

    def _notice(self, followed: _Followed, old: bytes | None, new: bytes | None) -> None:
        """An object counts as what it was and as what it is: it may have just lost a label."""
        for data in (old, new):
            if data is not None:
                self._wake_all(followed.waiting_for(orjson.loads(data)["metadata"]))

    def _wake_all(self, waiting: Iterable[Hashable]) -> None:
        for who in waiting:
            if who in self._wake:
                self._wake[who]()

    def _leave(self, who: Hashable, interest: Interest) -> None:
        place = (interest.kind, interest.namespace)
        own = self._followed.get(place)
        if own is None or not own.has(who, interest):
            place = (interest.kind, "")
        followed = self._followed[place]
        followed.leave(who, interest)
        if followed.is_empty():
            del self._followed[place]
            if place[1]:
                self._namespaces[place[0]] -= 1
            if followed.ready is not None:
                followed.ready.cancel()
            self._caches.release(followed.cache)


SETTLING_SECONDS = 2.0
"""API servers serve a new kind, and heed a new role, a moment after they tell of it."""
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
