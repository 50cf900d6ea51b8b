"""Replicas that share work: each holds some shards, and no shard is ever held by two.

Why no two: a member writes for its shards for a while (the fence) after it *sent* a renewal that succeeded,
and each write ends soon after it was sent, one way or the other. Others evict the member when they have
*seen* no renewal for longer than both together, by deleting exactly the version of its heartbeat that they
saw. If it has renewed since, the deletion is refused; if the deletion succeeds, no renewal can succeed any
more, so it cannot come back to its shards. Only then are they taken. Each replica measures time for itself.
The whole argument is in docs/decisions/0007-replicas.md.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress

import orjson

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import AlreadyExists, Conflict
from crossply.kube.informer import Informer
from crossply.kube.lease_objects import (
    LEASE,
    Timing,
    count_of,
    duration_of,
    group_lease,
    group_name,
    group_selector,
    holder_of,
    member_name,
    new_lease,
    shard_name,
    with_holder,
)
from crossply.kube.list_options import Selection
from crossply.kube.replica_heartbeat import Heartbeat, Watchdog, no_alarm, steady_clock
from crossply.kube.sharding import ShardListener, ShardSet, drain_all, drain_or_abandon, member_of, shard_of
from crossply.kube.shared_informers import SharedInformers
from crossply.kube.write_guard import Guard, NotOwner
from crossply.values import Object

TICK_SECONDS = 0.5
SHARDS = 16

_log = logging.getLogger("crossply.kube")


class LeasedShards:
    """One replica's part of the work; `run` it, and ask `owns` before beginning anything."""

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        group: str = "crossply",
        count: int = SHARDS,
        replica: str = "",
        timing: Timing = Timing(),  # noqa: B008 - it is immutable
        watchdog: Watchdog = no_alarm,
        clock: Callable[[], float] = steady_clock,
    ) -> None:
        # Under any load, the heartbeat must be renewed in time.
        self._client = client.ahead()
        self._namespace = namespace
        self._group = group
        self._count = count
        self._listeners: list[ShardListener] = []
        self._timing = timing
        self._clock = clock
        self._heart = Heartbeat(
            self._client,
            namespace=namespace,
            group=group,
            replica=replica or socket.gethostname(),
            timing=timing,
            watchdog=watchdog,
            clock=clock,
        )
        self._owned_as: dict[int, str] = {}
        """The shards that are ours, and the identity that we took them under."""
        self._releasing: dict[int, asyncio.Task[None]] = {}
        """Those of them that are being handed over to another replica."""
        self._released: dict[int, str] = {}
        """The version of a Lease that was released; the server may not have confirmed it."""
        self._leaving = False
        self._announced: ShardSet = frozenset()
        self._observed_heartbeats: dict[str, tuple[str, float]] = {}
        """The version of each heartbeat, and when we saw it first."""
        self._unsettled = float("-inf")
        """When a write was last left with the server without an answer."""

    @property
    def owned(self) -> ShardSet:
        """The shards that we may begin work on now."""
        return frozenset(shard for shard in self._owned_as if self._may_start(shard))

    def shard_of(self, key: str) -> int:
        """The shard that a key falls into."""
        return shard_of(key, self._count)

    def owns(self, key: str) -> bool:
        """Whether we may begin work on a key now."""
        return self._may_start(self.shard_of(key))

    def attach(self, listener: ShardListener) -> Callable[[], None]:
        """Notify a listener of the shards that we acquire, and wait for it before we hand one over."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def guard(self, key: str) -> Guard:
        """Work in progress may write as long as no other replica can have started any."""

        def check() -> None:
            if not self._is_owner(self.shard_of(key)):
                raise NotOwner(f"another replica is responsible for {key} now")

        return Guard(check, self._timing.landing, self._note_unsettled)

    async def run(self) -> None:
        """Hold our part until cancelled; then hand it over."""
        async with SharedInformers(self._client) as caches:
            selector = group_selector(self._group)
            cache = caches.acquire(LEASE, Selection(self._namespace, selector))
            await cache.synced.wait()
            self._count = await self._agreed_count()
            async with asyncio.TaskGroup() as tasks:
                heart = tasks.create_task(self._heart.run(self._announce))
                try:
                    await self._keep_balance(cache)
                finally:
                    await self._leave(heart)

    async def _agreed_count(self) -> int:
        """How many shards the group has: the first replica decides, since a key must not fall into two."""
        while True:
            try:
                return await self._ask_count()
            except (CrossplyError, Conflict) as problem:
                _log.warning("the replicas' Leases cannot be read: %s", problem)
                await asyncio.sleep(TICK_SECONDS)

    async def _ask_count(self) -> int:
        try:
            lease = await self._client.create(LEASE, group_lease(self._group, self._namespace, self._count))
        except AlreadyExists:
            group = await self._client.get(LEASE, group_name(self._group), self._namespace)
            if group is None:
                raise
            return count_of(group)
        return count_of(lease)

    def _is_owner(self, shard: int) -> bool:
        return self._owned_as.get(shard, "") == self._heart.member != "" and self._heart.fresh()

    def _may_start(self, shard: int) -> bool:
        return self._is_owner(shard) and shard not in self._releasing and not self._leaving

    def _announce(self) -> None:
        """Notify the listeners of the changes since the last notification."""
        before, self._announced = self._announced, self.owned
        gained = self._announced - before
        for listener in list(self._listeners) if gained else ():
            listener.gained(gained)

    def _note_unsettled(self) -> None:
        self._unsettled = self._clock()

    async def _landed(self) -> None:
        """Wait until what was left with the server without an answer has ended there."""
        end = self._unsettled + self._timing.transit + self._timing.landing
        await asyncio.sleep(max(end - self._clock(), 0.0))

    async def _keep_balance(self, cache: Informer) -> None:
        changed = asyncio.Event()
        stop = cache.subscribe(lambda *_: changed.set())
        try:
            while True:
                changed.clear()
                with suppress(CrossplyError, Conflict):  # the watch or the next tick brings us back
                    await self._balance(cache)
                self._announce()
                with suppress(TimeoutError):
                    async with asyncio.timeout(TICK_SECONDS):
                        await changed.wait()
        finally:
            stop()

    async def _balance(self, cache: Informer) -> None:
        members = self._observe(cache)
        if self._heart.member not in members or not self._heart.fresh():
            return
        await self._evict_the_lost(members)
        for shard in range(self._count):
            if shard not in self._releasing:
                await self._settle(cache, shard, set(members))

    def _observe(self, cache: Informer) -> dict[str, Object]:
        """Every heartbeat; when each was seen first in its present version is noted."""
        members: dict[str, Object] = {}
        for data in cache.objects():
            lease: Object = orjson.loads(data)
            if lease["metadata"]["name"] == member_name(self._group, holder_of(lease)):
                members[holder_of(lease)] = lease
        before, now = self._observed_heartbeats, self._clock()
        self._observed_heartbeats = {}
        for member, lease in members.items():
            version, since = before.get(member, ("", now))
            current = lease["metadata"]["resourceVersion"]
            self._observed_heartbeats[member] = (current, since if version == current else now)
        return members

    async def _evict_the_lost(self, members: dict[str, Object]) -> None:
        now = self._clock()
        for member, (version, since) in self._observed_heartbeats.items():
            # What was agreed with us counts, and what it says itself: it may have been started otherwise.
            lease = max(self._timing.lease, duration_of(members[member]))
            if member == self._heart.member or now - since <= lease:
                continue
            name, uid = members[member]["metadata"]["name"], members[member]["metadata"]["uid"]
            # Refused where it renewed after all: then the watch is late, and will report it.
            with suppress(Conflict):
                await self._client.delete(LEASE, name, self._namespace, uid=uid, resource_version=version)
                _log.warning("%s is lost; its shards are taken over", member)

    async def _settle(self, cache: Informer, shard: int, members: set[str]) -> None:
        """Bring one shard to the member that should have it, as far as that is ours to do."""
        data = cache.get(self._namespace, shard_name(self._group, shard))
        if data is None:
            await self._create(cache, shard)
            return
        lease = orjson.loads(data)
        holder, member = holder_of(lease), self._heart.member
        is_desired = member_of(shard, members) == member
        is_released = self._released.get(shard) == lease["metadata"]["resourceVersion"]
        if holder != member:
            self._owned_as.pop(shard, None)
        if holder == member and is_desired and not is_released:
            self._owned_as[shard] = member
        elif holder == member:
            self._releasing[shard] = asyncio.create_task(self._release(cache, shard, lease))
            self._announce()
        elif is_desired and holder not in members and await self._is_gone(holder):
            await self._take(cache, shard, lease, member)

    async def _is_gone(self, holder: str) -> bool:
        """Whether a member has left or was evicted, for good.

        What we observed may be older than the Lease that names the holder, who joined in between: the server
        is asked. No identity is used twice, and a heartbeat is there before its member takes anything.
        """
        name = member_name(self._group, holder)
        return not holder or await self._client.get_bytes(LEASE, name, self._namespace) is None

    async def _create(self, cache: Informer, shard: int) -> None:
        lease = new_lease(self._group, self._namespace, shard_name(self._group, shard))
        with suppress(AlreadyExists):
            cache.record_write(await self._client.create(LEASE, lease))

    async def _take(self, cache: Informer, shard: int, lease: Object, member: str) -> None:
        with suppress(Conflict):
            cache.record_write(await self._client.update(LEASE, with_holder(lease, member)))
            self._owned_as[shard] = member
            self._announce()

    async def _release(self, cache: Informer, shard: int, lease: Object) -> None:
        """Hand a shard over: wait for the work that is under way, stop writing, then release it."""
        try:
            await drain_all(self._listeners, frozenset({shard}))
            await self._landed()
            self._owned_as.pop(shard, None)
            self._released[shard] = lease["metadata"]["resourceVersion"]
            with suppress(CrossplyError, Conflict):
                cache.record_write(await self._client.update(LEASE, with_holder(lease, "")))
        finally:
            del self._releasing[shard]

    async def _leave(self, heart: asyncio.Task[None]) -> None:
        """Finish what is under way while we may, then free all shards at once by leaving."""
        self._leaving = True
        self._announce()
        releases = list(self._releasing.values())
        for release in releases:
            release.cancel()
        await asyncio.gather(*releases, return_exceptions=True)
        await drain_or_abandon(self._listeners, frozenset(self._owned_as))
        await self._landed()
        self._owned_as.clear()
        heart.cancel()
        await asyncio.wait({heart})
        # Where the server cannot be reached, our lease expires.
        with suppress(CrossplyError, Conflict, TimeoutError):
            async with asyncio.timeout(self._timing.renew):
                await self._heart.leave()
