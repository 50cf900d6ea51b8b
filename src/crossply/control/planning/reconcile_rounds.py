"""Reconciling in the store of the dry run, round by round, until nothing changes any more.

A change wakes whom it would wake in the real one: the composite resource or claim itself, the composite
resource that controls the object, and the claim of a composite resource.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from crossply.compose.object_metadata import metadata_of
from crossply.control.claims.claim_kind_controller import binding_of, claim_kind_of
from crossply.control.claims.sync import claim_reference
from crossply.control.controller_context import Plane
from crossply.control.planning.api_urls import ObjectKey, key_of
from crossply.control.planning.dry_run_store import DryRunStore, StoreChange
from crossply.control.planning.governed_kinds import Governed, GovernedKinds
from crossply.errors import CrossplyError
from crossply.kube.failures import Conflict, KubeError
from crossply.values import Object

CONCURRENCY = 16
MOST_RUNS = 8
"""How often one object is reconciled; one that would still change then never comes to rest."""
_TRIES = 3
_PATIENCE = 5.0
"""Seconds for which a kind that cannot be read is waited for."""
_PAUSE = 0.2

Progress = Callable[[int, int], None]
"""Called with the number of finished reconciles and the total."""


class Unreadable(CrossplyError):
    """A kind that the controllers watch cannot be listed, so their changes cannot be planned."""

    code = "CP-841"
    hint = "check that you may list it: kubectl auth can-i list THE-KIND --all-namespaces"


class ReconcileRounds:
    """The reconciles of one plan."""

    def __init__(self, plane: Plane, store: DryRunStore, kinds: GovernedKinds, progress: Progress) -> None:
        self._plane = plane
        self._store = store
        self._kinds = kinds
        self._progress = progress
        self._room = asyncio.Semaphore(CONCURRENCY)
        self._runs: Counter[ObjectKey] = Counter()
        self._total = 0
        self._done = 0
        self.problems: dict[ObjectKey, CrossplyError] = {}
        """What went wrong in the last reconcile of each."""

    @property
    def unstable(self) -> set[ObjectKey]:
        """What would go on changing."""
        return {key for key, runs in self._runs.items() if runs > MOST_RUNS}

    async def settle(self, keys: Iterable[ObjectKey]) -> None:
        """Reconcile these, and all whom that wakes."""
        keys = list(dict.fromkeys(keys))
        while keys:
            position = len(self._store.history())
            await self.guarded(asyncio.gather(*map(self._reconcile, self._counted(keys))))
            await self._plane.recorder.settle()
            await self._store.quiet()
            keys = self._affected_keys(self._store.history(position))

    def _counted(self, keys: list[ObjectKey]) -> list[ObjectKey]:
        self._runs.update(keys)
        keys = [key for key in keys if self._runs[key] <= MOST_RUNS]
        self._total += len(keys)
        return keys

    def _affected_keys(self, changes: Iterable[StoreChange]) -> list[ObjectKey]:
        enqueued: dict[ObjectKey, None] = {}
        for change in changes:
            for obj in (change.before, change.after):
                if obj is not None:
                    enqueued.update(dict.fromkeys(self._affected_by(change.key, obj)))
        return list(enqueued)

    def _affected_by(self, key: ObjectKey, obj: Object) -> Iterable[ObjectKey]:
        governed = self._kinds.at(key)
        if governed is not None:
            yield key
            if (claim := _claim_key(governed, obj)) is not None:
                yield claim
        owner = self._kinds.owner_key(obj)
        if owner is not None:
            yield owner

    def above(self, key: ObjectKey, obj: Object) -> ObjectKey | None:
        """The claim, or the composite resource, that an object belongs to."""
        governed = self._kinds.at(key)
        claim = _claim_key(governed, obj) if governed is not None else None
        return claim or self._kinds.owner_key(obj)

    async def _reconcile(self, key: ObjectKey) -> None:
        governed = self._kinds.at(key)
        assert governed is not None
        async with self._room:
            self.problems.pop(key, None)
            try:
                await self._once(governed, key)
            except CrossplyError as problem:
                self.problems[key] = problem
        self._done += 1
        self._progress(self._done, self._total)

    async def _once(self, governed: Governed, key: ObjectKey) -> None:
        for tries_left in reversed(range(_TRIES)):
            obj = await self._plane.as_controller.get(governed.kind, key.name, key.namespace)
            if obj is None or metadata_of(obj).get("deletionTimestamp"):
                return
            try:
                await self._kinds.reconcile(governed, obj)
            except Conflict as conflict:
                # Another reconcile wrote to the store in between.
                if not tries_left:
                    raise KubeError(str(conflict), status=409, reason=conflict.reason) from None
                await self._store.quiet()
            else:
                return

    async def guarded(self, work: asyncio.Future[Any]) -> None:
        """Run with a time limit: something that it waits for may not be readable."""
        guard = asyncio.create_task(self._find_trouble())
        try:
            await asyncio.wait((work, guard), return_when=asyncio.FIRST_COMPLETED)
            if guard.done():
                raise guard.result()
            await work
        finally:
            for task in (work, guard):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    async def _find_trouble(self) -> CrossplyError:
        since: dict[int, float] = {}
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(_PAUSE)
            for cache in self._plane.informers.running():
                if cache.synced.is_set() or cache.trouble is None:
                    since.pop(id(cache), None)
                elif clock() - since.setdefault(id(cache), clock()) > _PATIENCE:
                    message = f"cannot list {cache.kind.resource}: {cache.trouble}"
                    return Unreadable(message, hint=cache.trouble.hint)


def _claim_key(governed: Governed, obj: Object) -> ObjectKey | None:
    """The claim of a composite resource."""
    if governed.is_claim or governed.definition.claim_names is None:
        return None
    ref = claim_reference(obj, binding_of(governed.definition))
    if ref is None:
        return None
    kind = claim_kind_of(governed.definition)
    return key_of(kind, str(ref.get("name", "")), str(ref.get("namespace", "")))
