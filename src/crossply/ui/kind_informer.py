"""One kind as the viewer may read it: an informer with encoded objects, and a row and counts beside it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable

import orjson

from crossply.kube.client import Client
from crossply.kube.failures import Forbidden, NotServed, Unauthorized
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.kube.watch import Key
from crossply.ui.live_updates import Hub
from crossply.ui.object_state_and_row import ATTENTION, Row, row_of
from crossply.ui.page_types import MissingRight
from crossply.values import Object

SYNC_SECONDS = 3.0
"""How long a page waits for a kind to be read; then it shows what is loaded, and gets updates."""
_POLL_SECONDS = 0.02


class KindView:
    """Follows one kind from `start` to `close`."""

    def __init__(
        self,
        client: Client,
        kind: Kind,
        selection: Selection,
        hub: Hub,
        make_row: Callable[[Object], Row] = row_of,
    ) -> None:
        self.kind = kind
        self.selection = selection
        self.counts: Counter[str] = Counter()
        """How many objects are in which state."""
        self.attention: set[Key] = set()
        """Those whose state needs attention."""
        self.changes = 0
        """How many changes were taken in."""
        self._rows: dict[Key, Row] = {}
        self._keys_by_owner: dict[str, set[Key]] = {}
        self._hub = hub
        self._make_row = make_row
        self._informer = Informer(client, kind, selection)
        self._informer.subscribe(self._take)
        self._task = asyncio.create_task(self._informer.run(), name=f"dashboard: {kind.resource}")
        self._synced = asyncio.create_task(self._publish_when_synced())

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def refused(self) -> bool:
        """Whether the viewer may not read this kind."""
        return isinstance(self._informer.trouble, Forbidden | Unauthorized)

    @property
    def is_served(self) -> bool:
        return not isinstance(self._informer.trouble, NotServed)

    @property
    def is_reading(self) -> bool:
        """Whether more of it is to come."""
        return not (self.synced or self.refused) and self.is_served

    @property
    def synced(self) -> bool:
        return self._informer.synced.is_set()

    def row(self, namespace: str, name: str) -> Row | None:
        return self._rows.get((namespace, name))

    def rows(self) -> Iterable[Row]:
        return self._rows.values()

    def rows_of_owner(self, uid: str) -> list[Row]:
        """What the object with this uid controls."""
        return [self._rows[key] for key in self._keys_by_owner.get(uid, ())]

    def object(self, namespace: str, name: str) -> Object | None:
        """What is kept of an object, decoded."""
        data = self._informer.get(namespace, name)
        if data is None:
            return None
        value: Object = orjson.loads(data)
        # Where only metadata is read, the server calls every object a PartialObjectMetadata.
        return {**value, "apiVersion": self.kind.api_version, "kind": self.kind.kind}

    def objects(self) -> list[Object]:
        """All objects, decoded; for kinds with few of them."""
        return [orjson.loads(data) for data in self._informer.objects()]

    async def settle(self) -> None:
        """Wait until everything is here, or it is clear that it cannot be; at most SYNC_SECONDS."""
        await self._until(lambda: self.synced)

    async def first_answer(self) -> None:
        """Wait until something is here, or it is clear that nothing will be; at most SYNC_SECONDS."""
        await self._until(lambda: self.synced or bool(self._rows))

    async def _until(self, is_done: Callable[[], bool]) -> None:
        deadline = asyncio.get_running_loop().time() + SYNC_SECONDS
        while not (is_done() or self.refused or not self.is_served):
            if asyncio.get_running_loop().time() > deadline:
                return
            await asyncio.sleep(_POLL_SECONDS)

    def require(self) -> None:
        """Raise MissingRight where the viewer may not read this kind."""
        if self.refused:
            raise MissingRight("list", self.kind.resource, self.selection.namespace)

    async def close(self) -> None:
        for task in (self._task, self._synced):
            task.cancel()
        await asyncio.gather(self._task, self._synced, return_exceptions=True)

    async def _publish_when_synced(self) -> None:
        await self._informer.synced.wait()
        self._hub.publish(self.kind.resource)

    def _take(self, change: str, key: Key, before: bytes | None, after: bytes | None) -> None:
        self.changes += 1
        self._forget(key)
        if after is not None:
            self._keep(key, self._make_row(orjson.loads(after)))
        self._hub.publish(self.kind.resource)

    def _keep(self, key: Key, row: Row) -> None:
        self._rows[key] = row
        self.counts[row.state] += 1
        if row.state in ATTENTION:
            self.attention.add(key)
        if row.owner:
            self._keys_by_owner.setdefault(row.owner, set()).add(key)

    def _forget(self, key: Key) -> None:
        row = self._rows.pop(key, None)
        if row is None:
            return
        self.counts[row.state] -= 1
        self.attention.discard(key)
        keys = self._keys_by_owner.get(row.owner)
        if keys is not None:
            keys.discard(key)
            if not keys:
                del self._keys_by_owner[row.owner]
