"""GET with watch: the events of a resource, in order, from a revision on.

A watch subscribes to the store and reads the present objects in the same tick of the event loop, so no event
is missed. Events wait in a bounded queue: a client that does not read loses its watch, and the server no
memory.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable

from crossply.apiserver.endpoints.body_decoding import JSON, PROTOBUF
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import Form, negotiate_for
from crossply.apiserver.endpoints.status_errors import StatusError, expired
from crossply.apiserver.event_loop_offloading import Slices
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Compacted, Entry, Event
from crossply.apiserver.verbs.watch_events import WatchEventEncoder
from crossply.apiserver.verbs.watch_options import WatchOptions, read_watch_options

MAX_QUEUED = 4096
"""How many events may wait for a client before its watch is cut."""
MAX_QUEUED_BYTES = 64 << 20
"""How large they may be together; most are shared with the store's history and other watches."""
_CHUNK_BYTES = 256 << 10
"""About how much is encoded before the client has to take it."""

BOOKMARK_SECONDS = 50.0


def watch(context: ServerContext, call: Call) -> Watch:
    """The watch that a request asks for; the server streams its chunks."""
    return Watch(context, call, read_watch_options(call), negotiate_for(call))


class Watch:
    """One open watch."""

    def __init__(self, context: ServerContext, call: Call, options: WatchOptions, form: Form) -> None:
        self._store = context.store
        self._call = call
        self._options = options
        self._encoder = WatchEventEncoder(context, call, options, form)
        self._queue: deque[Event] = deque()
        self._queued_bytes = 0
        self._wakeup = asyncio.Event()
        self.content_type = f"{PROTOBUF};stream=watch" if form.media == PROTOBUF else JSON
        self.end_reason = ""
        """Why the server ended it; empty while it lasts, or when it timed out."""
        self.events = 0
        """How many events were sent."""
        self.refusal: Callable[[], StatusError | None] = _no_refusal
        """Called before events are sent: why the user may not see them any more, or None."""
        self.on_cut: Callable[[], None] = _do_nothing
        """Called when the client is too slow to read even that the watch has ended."""

    def end(self, reason: str) -> None:
        """End it; queued events are not sent any more."""
        self.end_reason = self.end_reason or reason
        self._wakeup.set()

    def failure(self, problem: StatusError) -> bytes:
        """End it, and return the ERROR event to send last."""
        self.end("failed")
        return self._encoder.error(problem)

    def recheck_access(self) -> None:
        """Have `refusal` called soon, even if no event arrives."""
        self._wakeup.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Encoded events to send, joined; the iterator ends when the watch does."""
        present, revision = self._present()
        unsubscribe = self._store.subscribe(self._call.resource.key, self._enqueue)
        try:
            try:
                missed = self._missed()
            except Compacted:
                yield self._too_old()
                return
            async for chunk in self._initial(present, missed, revision):
                yield chunk
            async for chunk in self._live(revision):
                yield chunk
        finally:
            unsubscribe()

    def _present(self) -> tuple[list[Entry], int]:
        revision = self._store.revision
        if self._options.since is not None or self._options.skips_present:
            return [], revision
        return self._store.list(self._call.resource.key, self._call.namespace), revision

    def _missed(self) -> list[Event]:
        if self._options.since is None:
            return []
        return self._store.events(self._call.resource.key, self._options.since)

    def _enqueue(self, event: Event) -> None:
        if self._call.namespace and event.key[1] != self._call.namespace:
            return
        if len(self._queue) >= MAX_QUEUED or self._queued_bytes > MAX_QUEUED_BYTES:
            if not self.end_reason:
                self.end("slow")
                self._queue.clear()
                self.on_cut()
        elif not self.end_reason:
            self._queued_bytes += len(event.data)
            self._queue.append(event)
            self._wakeup.set()

    async def _initial(
        self, entries: list[Entry], missed: list[Event], revision: int
    ) -> AsyncIterator[bytes]:
        namespace = self._call.namespace
        present = (Event(e.revision, "ADDED", e.key, e.data, None) for e in entries)
        async for chunk in self._encoded(present):
            yield chunk
        async for chunk in self._encoded(e for e in missed if not namespace or e.key[1] == namespace):
            yield chunk
        if self._options.sends_initial_events_end:
            yield self._encoder.bookmark(revision, ends_initial_events=True)

    async def _live(self, revision: int) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._options.timeout
        while not self.end_reason and (left := deadline - loop.time()) > 0:
            if not self._queue and not await self._wait(min(left, BOOKMARK_SECONDS)):
                if self._options.bookmarks and not self._queue:
                    yield self._encoder.bookmark(self._store.revision, ends_initial_events=False)
                continue
            if (refusal := self.refusal()) is not None:
                self.end("forbidden")
                yield self._encoder.error(refusal)
                return
            batch = list(self._queue)
            self._queue.clear()
            self._queued_bytes = 0
            async for chunk in self._encoded(event for event in batch if event.revision > revision):
                yield chunk

    async def _wait(self, seconds: float) -> bool:
        """Wait for an event; False after a timeout."""
        self._wakeup.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._wakeup.wait()
        except TimeoutError:
            return False
        return True

    async def _encoded(self, events: Iterable[Event]) -> AsyncIterator[bytes]:
        """Encoded events, joined: few writes for many small ones, little memory for many large ones."""
        encoded: list[bytes] = []
        size = 0
        slices, encode = Slices(), self._encoder.encode
        for event in events:
            await slices.spend(len(event.data))
            if line := await encode(event):
                self.events += 1
                encoded.append(line)
                size += len(line)
            if size > _CHUNK_BYTES:
                yield b"".join(encoded)
                encoded, size = [], 0
            if self.end_reason:
                return
        if encoded:
            yield b"".join(encoded)

    def _too_old(self) -> bytes:
        since, oldest = self._options.since, self._store.compacted
        return self._encoder.error(expired(f"too old resource version: {since} ({oldest})"))


def _no_refusal() -> StatusError | None:
    return None


def _do_nothing() -> None:
    pass
