"""Records events: once a change and not once a reconcile."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from secrets import token_hex

from crossply.compose.events import Event
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.core_kinds import EVENT
from crossply.kube.failures import Conflict
from crossply.kube.write_guard import NotOwner
from crossply.record.rate_limit import RateLimiter
from crossply.values import Object
from crossply.values.timestamps import current_timestamp

BURST = 25
PAUSE = 300.0
"""Seconds between two events about an object that had a burst of them, as in Kubernetes' own controllers."""
_REMEMBERED = 20_000
_AT_ONCE = 2
"""So few events are written at the same time: reconciling comes first."""
_MOST_WAITING = 20_000
_LONGEST = 230


class Recorder:
    """Writes events beside the reconcile, and never the same one twice in a row about the same object."""

    def __init__(self, client: Client, component: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._allowances = RateLimiter(BURST, PAUSE, clock)
        self._component = component
        self._recorded: OrderedDict[bytes, None] = OrderedDict()
        self._waiting: deque[Object] = deque(maxlen=_MOST_WAITING)
        self._writers: set[asyncio.Task[None]] = set()

    def record(self, about: Object, event: Event, *, is_repeatable: bool = False) -> None:
        """Write an event about an object, unless the same one was recorded before and is not repeatable."""
        uid = about["metadata"].get("uid", "")
        key = _digest(uid, event)
        if key in self._recorded and not is_repeatable:
            self._recorded.move_to_end(key)
            return
        if self._allowances.take(uid) is None:
            # Its failure has new words each time; the condition has the latest.
            return
        self._recorded[key] = None
        if len(self._recorded) > _REMEMBERED:
            self._recorded.popitem(last=False)
        self._waiting.append(_body(about, event, self._component))
        if len(self._writers) < _AT_ONCE:
            writer = asyncio.create_task(self._write())
            self._writers.add(writer)
            writer.add_done_callback(self._writers.discard)

    async def settle(self) -> None:
        """Wait for what is being written."""
        await asyncio.gather(*self._writers, return_exceptions=True)

    async def _write(self) -> None:
        """Write what waits, one after the other."""
        while self._waiting:
            # Events are best effort: the condition says the same, and no reconcile waits for this write.
            with suppress(CrossplyError, Conflict, NotOwner):
                await self._client.create(EVENT, self._waiting.popleft())


def _digest(uid: str, event: Event) -> bytes:
    """What is remembered of an event: there are many, and they are long."""
    text = "\0".join((uid, event.type, event.reason, event.message))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _name_after(name: str) -> str:
    return f"{name[:_LONGEST].rstrip('-.')}.{token_hex(8)}"


def _body(about: Object, event: Event, component: str) -> Object:
    metadata = about["metadata"]
    now = current_timestamp()
    namespace = metadata.get("namespace") or "default"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": _name_after(metadata["name"]), "namespace": namespace},
        "involvedObject": {
            "apiVersion": about["apiVersion"],
            "kind": about["kind"],
            "name": metadata["name"],
            "namespace": metadata.get("namespace", ""),
            "uid": metadata.get("uid", ""),
            "resourceVersion": metadata.get("resourceVersion", ""),
        },
        "type": event.type,
        "reason": event.reason,
        "message": event.message[:1024],
        "source": {"component": component},
        "reportingComponent": component,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
