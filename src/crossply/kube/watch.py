"""Watches the objects of a kind through every interruption.

`changes` is the source: it begins with everything that exists, then yields every change in order. When the
connection ends it continues from the last resource version. When the server no longer knows that (410) it
lists again: it yields RELIST first, and SYNCED once all existing objects were yielded. Objects that were not
among them are gone. `informer` compares them with what it holds; `watch_objects` does so for other callers.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import NamedTuple

import aiohttp
import orjson

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import Expired, Invalid, KubeError, Unreachable, refusal
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.kube.response_lines import lines
from crossply.values import Object
from crossply.values.backoff import Backoff
from crossply.values.overallocated_bytes import compact_bytes

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
RELIST, SYNCED, BOOKMARK = "RELIST", "SYNCED", "BOOKMARK"

WATCH_SECONDS = 300.0
"""A watch is asked to last this long, or up to twice as long, so that not all end together."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
MOST_STUCK = 3
"""After so many failures at one resource version everything is read again, at last by a list."""
STUCK_SECONDS = 30.0
"""A watch that breaks so soon is broken by what it is sent. Later, an idle connection may have been cut."""
SOON = 1.0
"""A watch that ends within so many seconds counts as a failure: it must not be begun again and again."""

_INITIAL = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
_INITIAL_END = "k8s.io/initial-events-end"
_HEAD, _MIDDLE = b'{"type":"', b'","object":'

_log = logging.getLogger("crossply.kube")

Key = tuple[str, str]
"""An object's namespace and name."""


class Change(NamedTuple):
    """Something that happened to an object."""

    type: str
    data: bytes
    """The object, encoded; of a bookmark the resource version only."""
    obj: Object
    """The same, decoded."""

    @property
    def key(self) -> Key:
        """Which object."""
        metadata = self.obj["metadata"]
        return metadata.get("namespace", ""), metadata["name"]

    @property
    def uid(self) -> str:
        """Which object of that name."""
        return str(self.obj["metadata"].get("uid", ""))

    @property
    def resource_version(self) -> str:
        """Which version of it; of a SYNCED or BOOKMARK, of the whole kind."""
        return str(self.obj["metadata"].get("resourceVersion", ""))


Trouble = Callable[[CrossplyError | None], None]
"""Called with the reason while the watch is broken, and with None once it works again."""


def _untold(problem: CrossplyError | None) -> None:
    """The listener for callers without one."""


async def watch_objects(
    client: Client, kind: Kind, *, namespace: str = "", label_selector: str = "", since: str = ""
) -> AsyncGenerator[Change, None]:
    """Every change: ADDED, MODIFIED and DELETED, and SYNCED whenever all existing objects were yielded.

    With `since` existing objects are not yielded first. An object that vanished during a gap is yielded as
    DELETED with its identity only. Close the iterator when done: `async with aclosing(watch_objects(…))`.
    """
    known: dict[Key, tuple[str, str]] = {}
    unseen: set[Key] = set()
    events = changes(client, kind, Selection(namespace, label_selector), since=since)
    async with aclosing(events):
        async for change in events:
            if change.type == RELIST:
                unseen = set(known)
            elif change.type == SYNCED:
                for key in unseen:
                    yield _vanished(kind, key, known.pop(key)[0])
                unseen = set()
                yield change
            elif change.type != BOOKMARK:
                unseen.discard(change.key)
                for event in _events_of(kind, known, change):
                    yield event


def _events_of(kind: Kind, known: dict[Key, tuple[str, str]], change: Change) -> list[Change]:
    """The change relative to the objects that were yielded before."""
    before = known.get(change.key)
    if change.type == DELETED:
        known.pop(change.key, None)
        return [change]
    known[change.key] = (change.uid, change.resource_version)
    if before is None:
        return [change._replace(type=ADDED)]
    if before == known[change.key]:
        return []
    if before[0] != change.uid:
        return [_vanished(kind, change.key, before[0]), change._replace(type=ADDED)]
    return [change._replace(type=MODIFIED)]


def _vanished(kind: Kind, key: Key, uid: str) -> Change:
    metadata = {"name": key[1], "uid": uid} | ({"namespace": key[0]} if key[0] else {})
    obj = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
    return Change(DELETED, compact_bytes(orjson.dumps(obj)), obj)


def changes(
    client: Client,
    kind: Kind,
    selection: Selection,
    *,
    since: str = "",
    trouble: Trouble = _untold,
) -> AsyncGenerator[Change, None]:
    """Every change, with RELIST, SYNCED and BOOKMARK in between; it never ends by itself."""
    return _Reflector(client, kind, selection, since, trouble).run()


class _Reflector:
    """A place in the history of a kind, and the way on from there."""

    def __init__(
        self, client: Client, kind: Kind, selection: Selection, since: str, trouble: Trouble
    ) -> None:
        self._client = client
        self._kind = kind
        self._selection = selection
        self._position = since
        """The version up to which everything was yielded; empty where the next watch lists again."""
        self._streams_lists = True
        self._trouble = trouble
        self._stuck = 0
        """How often it broke since it last got anywhere."""

    async def run(self) -> AsyncGenerator[Change, None]:
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            started = asyncio.get_running_loop().time()
            problem: CrossplyError | None = None
            try:
                async with aclosing(self._onwards()) as events:
                    async for change in events:
                        yield change
            except CrossplyError as raised:
                problem = raised
            except Exception as raised:  # noqa: BLE001 - whatever a server sends, the watch continues
                problem = Unreachable(f"the watch cannot be read: {type(raised).__name__}: {raised}")
            lasted = asyncio.get_running_loop().time() - started
            if lasted >= SOON and not self._stuck:
                backoff.reset()
                if problem is None:
                    continue
            pause = backoff.next()
            anew = problem is not None and (self._begins_anew(problem) or self._gives_up(problem, lasted))
            if not anew or backoff.failures > 1:
                self._note(problem, backoff.failures)
                await asyncio.sleep(pause)

    def _note(self, problem: CrossplyError | None, failures: int) -> None:
        self._trouble(problem)
        # A watch that broke is not reported; one that cannot be restarted is.
        level = logging.WARNING if failures == MOST_STUCK else logging.DEBUG
        _log.log(level, "watching %s: %s", self._kind.resource, problem or "it ended at once")

    def _begins_anew(self, problem: CrossplyError) -> bool:
        """Whether there is another way on, which needs no waiting."""
        if isinstance(problem, Expired) and self._position:
            self._position = ""
            return True
        if isinstance(problem, Invalid) and not self._position and self._streams_lists:
            # A server without streaming lists refuses the question itself.
            self._streams_lists = False
            return True
        return False

    def _gives_up(self, problem: CrossplyError, lasted: float) -> bool:
        """Whether this place leads nowhere, and another way is taken."""
        if lasted < STUCK_SECONDS and _may_succeed_elsewhere(problem):
            self._stuck += 1
        if self._stuck < MOST_STUCK:
            return False
        self._stuck = 0
        if self._position:
            self._position = ""
        else:
            self._streams_lists = False
        return True

    def _onwards(self) -> AsyncGenerator[Change, None]:
        if self._position:
            return self._watch({"resourceVersion": self._position})
        return self._watch(_INITIAL) if self._streams_lists else self._list()

    async def _list(self) -> AsyncGenerator[Change, None]:
        listed = await self._client.list_selected(self._kind, self._selection)
        yield _marker(RELIST)
        for data in listed.items:
            yield Change(ADDED, data, orjson.loads(data))
        self._position = listed.resource_version
        yield _marker(SYNCED, self._position)
        async with aclosing(self._watch({"resourceVersion": self._position})) as events:
            async for change in events:
                yield change

    async def _watch(self, query: dict[str, str]) -> AsyncGenerator[Change, None]:
        seconds = WATCH_SECONDS * (1 + random.random())
        query = {**query, "allowWatchBookmarks": "true", "timeoutSeconds": str(int(seconds))}
        async with self._client.stream(self._kind, self._selection, query, seconds + 30) as body:
            self._trouble(None)
            if not self._position:
                yield _marker(RELIST)
            async with aclosing(_parsed(body)) as parsed:
                async for change in parsed:
                    yield self._moved(change)

    def _moved(self, change: Change) -> Change:
        """Note the resource version; none while the server still sends existing objects."""
        before = self._position
        change = self._placed(change)
        if self._position != before:
            self._stuck = 0
        return change

    def _placed(self, change: Change) -> Change:
        if self._position:
            if change.type == BOOKMARK and _is_older(change.resource_version, self._position):
                raise Expired("the server is behind an earlier resource version: its data was replaced")
            self._position = change.resource_version or self._position
        elif change.type == BOOKMARK and _ends_initial(change.obj):
            self._position = change.resource_version
            return change._replace(type=SYNCED)
        return change


def _may_succeed_elsewhere(problem: CrossplyError) -> bool:
    """Whether another kind of request may help: the server closed the connection, or sent an error."""
    if isinstance(problem, Unreachable):
        return not problem.never_sent
    return isinstance(problem, KubeError) and problem.status == 500


def _marker(kind: str, resource_version: str = "") -> Change:
    return Change(kind, b"", {"metadata": {"resourceVersion": resource_version}})


def _ends_initial(obj: Object) -> bool:
    return (obj["metadata"].get("annotations") or {}).get(_INITIAL_END) == "true"


def _is_older(now: str, before: str) -> bool:
    return now.isdigit() and before.isdigit() and int(now) < int(before)


async def _parsed(body: aiohttp.StreamReader) -> AsyncGenerator[Change, None]:
    async for line in lines(body):
        change = _parse(line)
        if change.type == "ERROR":
            raise refusal(change.obj)
        _check(change)
        yield change


def _check(change: Change) -> None:
    """Refuse an event that names no object."""
    metadata = change.obj.get("metadata") if isinstance(change.obj, dict) else None
    named = isinstance(metadata, dict) and (change.type == BOOKMARK or metadata.get("name"))
    if not named:
        raise Unreachable(f"the watch sent an event of type {change.type[:20]} without an object")


def _parse(line: bytes) -> Change:
    """One line of a watch. The object's bytes are cut out of it; they are not encoded again."""
    try:
        if line.startswith(_HEAD):
            end = line.index(b'"', len(_HEAD))
            if line.startswith(_MIDDLE, end):
                data = line.rstrip()[end + len(_MIDDLE) : -1]
                return Change(line[len(_HEAD) : end].decode(), data, orjson.loads(data))
        event = orjson.loads(line)
        return Change(event["type"], compact_bytes(orjson.dumps(event["object"])), event["object"])
    except (ValueError, KeyError, TypeError) as problem:
        raise Unreachable(f"the watch sent something else than an event: {problem}") from None
