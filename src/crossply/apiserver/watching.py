"""Watches: every change of a resource, in order, from a revision on, until the client or the time is up.

A watch subscribes to the store and takes its first look in the same tick, so nothing falls in between. Events
wait in a bounded queue; a client that does not read loses its watch instead of the server its memory.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass

from crossply.apiserver.builtin import blank
from crossply.apiserver.endpoints.body_decoding import JSON, PROTOBUF
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.negotiation import Form
from crossply.apiserver.endpoints.query_options import read_version, signed_option
from crossply.apiserver.endpoints.replies import FACTORS, encoded_event, shaped
from crossply.apiserver.endpoints.status_errors import (
    Cause,
    StatusError,
    bad_list_options,
    expired,
)
from crossply.apiserver.object_codec import State, state_of
from crossply.apiserver.registry.conversion import convert_one
from crossply.apiserver.registry.selectors import (
    FieldClause,
    Requirement,
    fields_match,
    keys_match,
    labels_match,
    parse_fields,
    parse_labels,
)
from crossply.apiserver.server_context import World
from crossply.apiserver.slices import Slices
from crossply.apiserver.storage import Compacted, Entry, Event
from crossply.schema.field_errors import FORBIDDEN, NOT_SUPPORTED
from crossply.values import Object

MAX_WAITING = 4096
"""How many events may wait for a client before its watch is cut."""
MAX_WAITING_BYTES = 64 << 20
"""How large they may be together; they are mostly shared with history and with other watches."""
_PIECE = 256 << 10
"""About how much is encoded before the client has to take it."""

BOOKMARK_SECONDS = 50.0
_SHORTEST = 1800


@dataclass(frozen=True, slots=True)
class Plan:
    """What a watch was asked for."""

    since: int | None
    """Only what came after this revision; None begins with everything that exists."""
    skips_present: bool
    """Whether what exists is not wanted, although no revision was named."""
    initial_end: bool
    bookmarks: bool
    timeout: float
    labels: tuple[Requirement, ...]
    fields: tuple[FieldClause, ...]

    @property
    def keys(self) -> tuple[FieldClause, ...]:
        """Clauses about the name and namespace of an object."""
        return tuple(clause for clause in self.fields if clause.is_about_key)

    @property
    def contents(self) -> tuple[FieldClause, ...]:
        """Clauses about what else an object says."""
        return tuple(clause for clause in self.fields if not clause.is_about_key)

    @property
    def selects_all(self) -> bool:
        """Whether every object passes."""
        return not self.labels and not self.fields


def read_plan(call: Call) -> Plan:
    """What the query asks for, or why it cannot be had."""
    initial = call.query.get("sendInitialEvents", "")
    _check_initial(call, initial)
    wanted = call.flag("sendInitialEvents")
    version = read_version(call)
    since = None if wanted else version
    return Plan(
        since=since,
        skips_present=bool(initial) and not wanted,
        initial_end=wanted,
        bookmarks=call.flag("allowWatchBookmarks"),
        timeout=_timeout(call),
        labels=parse_labels(call.query.get("labelSelector", "")),
        fields=parse_fields(_field_selector(call), call.version, custom=call.resource.custom),
    )


def _field_selector(call: Call) -> str:
    """The field selector, and the name where one object is watched."""
    given = call.query.get("fieldSelector", "")
    return ",".join(filter(None, (given, f"metadata.name={call.name}" if call.name else "")))


def _check_initial(call: Call, initial: str) -> None:
    """What is said of initial events must fit together."""
    match = call.query.get("resourceVersionMatch", "")
    if not initial and match:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        raise bad_list_options(Cause(FORBIDDEN, f"Forbidden: {why}", "resourceVersionMatch"))
    if not initial or match == "NotOlderThan":
        return
    why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
    causes = [Cause(FORBIDDEN, f"Forbidden: {why}", "resourceVersionMatch")]
    if match:
        message = f'Unsupported value: "{match}": supported values: "NotOlderThan"'
        causes.append(Cause(NOT_SUPPORTED, message, "resourceVersionMatch"))
    raise bad_list_options(*causes)


def _timeout(call: Call) -> float:
    seconds = signed_option(call, "timeoutSeconds")
    if seconds is None:
        return _SHORTEST * (1 + random.random())
    return max(float(seconds), 0.0) or _SHORTEST


class Watch:
    """One watch under way."""

    def __init__(self, world: World, call: Call, plan: Plan, form: Form) -> None:
        self._world = world
        self._call = call
        self._plan = plan
        self._form = form
        self._waiting: deque[Event] = deque()
        self._held = 0
        self._wake = asyncio.Event()
        self._ended = ""
        self.events = 0
        """How many events were sent."""
        self.refusal: Callable[[], StatusError | None] = _no_refusal
        """Why the user may not see any more, if so; asked before anything is sent."""
        self.on_cut: Callable[[], None] = _nothing
        """Called when the client is too slow: it does not even read that the watch is over."""
        self._columns_told = False
        self._plain = form.is_plain and call.resource.is_stored_at(call.version.name)

    @property
    def content_type(self) -> str:
        """What the client is told of the events that come."""
        return f"{PROTOBUF};stream=watch" if self._form.media == PROTOBUF else JSON

    @property
    def ended(self) -> str:
        """Why the server ended it; empty while it lasts, or when its time was up."""
        return self._ended

    def end(self, reason: str) -> None:
        """End it: what waits is not sent any more."""
        self._ended = self._ended or reason
        self._wake.set()

    def failure(self, problem: StatusError) -> bytes:
        """The last event of a watch that cannot go on."""
        self.end("failed")
        return self._error(problem)

    def look_up(self) -> None:
        """Ask again, soon, whether the user may still see this."""
        self._wake.set()

    async def lines(self) -> AsyncIterator[bytes]:
        """What to send, piece by piece; the iterator ends when the watch does."""
        start, revision = self._begin()
        unsubscribe = self._world.store.subscribe(self._call.resource.key, self._take)
        try:
            try:
                missed = self._missed()
            except Compacted:
                yield self._too_old()
                return
            async for piece in self._first(start, missed, revision):
                yield piece
            async for piece in self._follow(revision):
                yield piece
        finally:
            unsubscribe()

    def _begin(self) -> tuple[list[Entry], int]:
        revision = self._world.store.revision
        if self._plan.since is not None or self._plan.skips_present:
            return [], revision
        return self._world.store.list(self._call.resource.key, self._call.namespace), revision

    def _missed(self) -> list[Event]:
        if self._plan.since is None:
            return []
        return self._world.store.events(self._call.resource.key, self._plan.since)

    def _take(self, event: Event) -> None:
        if self._call.namespace and event.key[1] != self._call.namespace:
            return
        if len(self._waiting) >= MAX_WAITING or self._held > MAX_WAITING_BYTES:
            if not self._ended:
                self.end("slow")
                self._waiting.clear()
                self.on_cut()
        elif not self._ended:
            self._held += len(event.data)
            self._waiting.append(event)
            self._wake.set()

    async def _first(self, entries: list[Entry], missed: list[Event], revision: int) -> AsyncIterator[bytes]:
        namespace = self._call.namespace
        present = (Event(e.revision, "ADDED", e.key, e.data, None) for e in entries)
        async for piece in self._pieces(present):
            yield piece
        async for piece in self._pieces(e for e in missed if not namespace or e.key[1] == namespace):
            yield piece
        if self._plan.initial_end:
            yield self._bookmark(revision, initial_end=True)

    async def _follow(self, revision: int) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._plan.timeout
        while not self._ended and (left := end - loop.time()) > 0:
            if not self._waiting and not await self._woken(min(left, BOOKMARK_SECONDS)):
                if self._plan.bookmarks and not self._waiting:
                    yield self._bookmark(self._world.store.revision, initial_end=False)
                continue
            if (refusal := self.refusal()) is not None:
                self.end("forbidden")
                yield self._error(refusal)
                return
            batch = list(self._waiting)
            self._waiting.clear()
            self._held = 0
            async for piece in self._pieces(event for event in batch if event.revision > revision):
                yield piece

    async def _woken(self, seconds: float) -> bool:
        """Wait until something happened, but not forever."""
        self._wake.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return False
        return True

    async def _pieces(self, events: Iterable[Event]) -> AsyncIterator[bytes]:
        """Events as lines, joined: few writes for many small ones, little memory for many large ones."""
        lines: list[bytes] = []
        size = 0
        slices = Slices()
        for event in events:
            await slices.spend(len(event.data))
            if line := await self._line(event):
                self.events += 1
                lines.append(line)
                size += len(line)
            if size > _PIECE:
                yield b"".join(lines)
                lines, size = [], 0
            if self._ended:
                return
        if lines:
            yield b"".join(lines)

    async def _line(self, event: Event) -> bytes:
        """The event as the client sees it; empty when it does not concern it."""
        if self._is_as_stored(event):
            kind = self._seen_as(event) if not self._plan.selects_all else event.type
            if kind == event.type or (kind == "ADDED" and event.type == "MODIFIED"):
                return b'{"type":"' + kind.encode() + b'","object":' + event.data + b"}\n"
            if kind == "":
                return b""
        return await self._converted_line(event)

    def _is_as_stored(self, event: Event) -> bool:
        """Whether the stored states of an object are what the client is shown."""
        if not self._plain or event.revision < self._call.resource.since:
            return False
        return (
            self._plan.selects_all
            or not event.previous
            or (event.previous_revision >= self._call.resource.since)
        )

    async def _converted_line(self, event: Event) -> bytes:
        """The same for an event that cannot be sent as it is stored."""
        whole = self._world.decoded.whole
        obj = await self._shown(whole(state_of(event)))
        if self._plan.selects_all:
            return await self._encoded(event, event.type, obj)
        previous = event.before()
        before = obj if previous is None else await self._shown(whole(state_of(previous)))
        kind, seen = self._seen_as_object(event, obj, before)
        return await self._encoded(event, kind, seen) if kind else b""

    async def _shown(self, obj: Object) -> Object:
        """An object at the version of the request."""
        return await convert_one(self._world, self._call.resource, obj, self._call.version.name)

    async def _encoded(self, event: Event, kind: str, obj: Object) -> bytes:
        """An event of an object in the form of this watch; all that watch in this form share it."""
        if self._form.shape == "table":
            # It tells ages, so it is written anew each time.
            told, self._columns_told = self._columns_told, True
            return await self._world.background.run(len(event.data), lambda: self._event(kind, obj, told))
        resource = self._call.resource
        key = (event.key, event.revision, kind, resource.since, self._call.version.name, self._form)
        known = self._world.decoded.known_encoding(key)
        if known is None:
            weight = 0 if self._form.is_plain else len(event.data) * FACTORS.get(self._form.media, 1)
            known = await self._world.background.run(weight, lambda: self._event(kind, obj, True))
            self._world.decoded.remember_encoding(key, known)
        return known

    def _event(self, kind: str, obj: Object, columns_told: bool) -> bytes:
        shown = shaped(self._call, obj, self._form)
        if self._form.shape == "table" and columns_told:
            shown = {**shown, "columnDefinitions": None}  # columns are told once, with the first event
        return encoded_event(kind, shown, self._form)

    def _seen_as(self, event: Event) -> str:
        """What the change of an object that is shown as it is stored is to a client that selects."""
        previous = event.before()
        before = previous is not None and self._selects(state_of(previous))
        return _seen_as(event, self._selects(state_of(event)), before)

    def _seen_as_object(self, event: Event, obj: Object, previous: Object) -> tuple[str, Object]:
        """What the change is to a client that sees selected objects only, and what it is shown."""
        before = event.previous is not None and self._selects_object(previous)
        kind = _seen_as(event, self._selects_object(obj), before)
        # It left the selection: shown is the last state that was selected, at the version of the change.
        left = kind == "DELETED" and event.type != "DELETED"
        return kind, with_version_of(previous, obj) if left else obj

    def _selects(self, state: State) -> bool:
        """Whether a stored object is selected; it is decoded only if that has to be."""
        decoded, plan = self._world.decoded, self._plan
        if not keys_match(plan.keys, state.key):
            return False
        if plan.labels and not labels_match(plan.labels, decoded.labels(state)):
            return False
        return not plan.contents or fields_match(plan.contents, decoded.whole(state))

    def _selects_object(self, obj: Object) -> bool:
        labels = obj["metadata"].get("labels") or {}
        return labels_match(self._plan.labels, labels) and fields_match(self._plan.fields, obj)

    def _bookmark(self, revision: int, *, initial_end: bool) -> bytes:
        metadata: Object = {"resourceVersion": str(revision)}
        if initial_end:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        told, self._columns_told = self._columns_told, True
        return self._event("BOOKMARK", self._nothing_but(metadata), told)

    def _nothing_but(self, metadata: Object) -> Object:
        """An object of the kind in which nothing is set."""
        resource, version = self._call.resource, self._call.version.name
        head = {"kind": resource.names.kind, "apiVersion": resource.api_version(version)}
        if resource.custom:
            return {**head, "metadata": {**metadata, "creationTimestamp": None}}
        return {**blank(resource, version), **head, "metadata": metadata}

    def _too_old(self) -> bytes:
        since, oldest = self._plan.since, self._world.store.compacted
        return self._error(expired(f"too old resource version: {since} ({oldest})"))

    def _error(self, problem: StatusError) -> bytes:
        return encoded_event("ERROR", problem.body(), self._form)


def _seen_as(event: Event, now: bool, before: bool) -> str:
    """What a change is to a client that selected the object before, or does now; empty if neither."""
    if event.type == "ADDED":
        return "ADDED" if now else ""
    if event.type == "DELETED":
        return "DELETED" if before or now else ""
    if now:
        return "MODIFIED" if before else "ADDED"
    return "DELETED" if before else ""


def with_version_of(obj: Object, other: Object) -> Object:
    """An object at the resource version of another."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": other["metadata"]["resourceVersion"]}}


def _no_refusal() -> StatusError | None:
    return None


def _nothing() -> None:
    pass
