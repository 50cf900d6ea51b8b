"""What composite resources depend on beside what they are made of: a change of it wakes them.

That is what functions required or wanted watched, the objects that steps take their input from, credentials,
and connection secrets. Each kind is followed once a namespace, and of its objects only metadata is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

import orjson

from crossply.kube.cache import Cache
from crossply.kube.caches import Caches
from crossply.kube.kind import Kind
from crossply.kube.selection import Selection
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

Place = tuple[Kind, str]
Interests = frozenset[Interest]


class _Followed:
    """One watch, and who waits for what of it."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self.by_name: dict[str, dict[Hashable, None]] = {}
        self.by_labels: dict[Interest, dict[Hashable, None]] = {}
        self.ready: asyncio.Task[None] | None = None

    def of(self, interest: Interest) -> dict[Hashable, None]:
        if interest.name:
            return self.by_name.setdefault(interest.name, {})
        return self.by_labels.setdefault(interest, {})

    def leave(self, who: Hashable, interest: Interest) -> None:
        waiting = self.of(interest)
        waiting.pop(who, None)
        if not waiting:
            self.by_name.pop(interest.name, None) if interest.name else self.by_labels.pop(interest, None)

    def waiting_for(self, metadata: Object) -> list[Hashable]:
        found = list(self.by_name.get(metadata["name"], ()))
        for interest, waiting in self.by_labels.items():
            if interest.includes(metadata):
                found.extend(waiting)
        return found

    def everybody(self) -> list[Hashable]:
        groups = (*self.by_name.values(), *self.by_labels.values())
        return [who for group in groups for who in group]


class Dependencies:
    """Who depends on what."""

    def __init__(self, caches: Caches) -> None:
        self._caches = caches
        self._followed: dict[Place, _Followed] = {}
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
        place = (interest.kind, interest.namespace)
        followed = self._followed.get(place)
        if followed is None:
            cache = self._caches.acquire(interest.kind, Selection(interest.namespace, metadata_only=True))
            followed = self._followed[place] = _Followed(cache)
            followed.ready = asyncio.create_task(self._begin(followed))
        followed.of(interest)[who] = None
        return followed.cache.synced.is_set()

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
        followed = self._followed[place]
        followed.leave(who, interest)
        if not followed.by_name and not followed.by_labels:
            del self._followed[place]
            if followed.ready is not None:
                followed.ready.cancel()
            self._caches.release(followed.cache)
