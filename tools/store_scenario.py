"""One life of a store, for tests that make it fail: what was tried, what was acknowledged, what may be there.

`play` runs in the process that is hurt. It reports each attempt before it is made and each answer after it
came, so that `Ledger` in another process knows what must be there afterwards, whatever happened.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
import traceback
from collections.abc import Callable
from typing import Any

from crossply.apiserver.storage import HistoryLimits, StorageError, Store, restore, sqlite_journal

RESOURCE = "widgets.example.org"
LIMITS = HistoryLimits(events=40)
"""Little history, so that compaction happens by itself too."""
_OBJECTS = 6
_BIG = 20_000
_CHECKPOINT_BYTES = 100_000
"""So few that one life of a store has a checkpoint in the middle."""

Report = Callable[..., None]
Snapshot = dict[str, str]
"""The tag of each object: the content that one attempt would give it."""


class Broken(Exception):
    """A promise was not kept."""


# The process that is hurt.


class Player:
    """Clients of one store. An error is an answer; anything but a StorageError is reported as broken."""

    def __init__(self, store: Store, report: Report) -> None:
        self._store = store
        self._report = report
        self._attempts = store.revision  # a tag is never used twice, also in a second life

    async def put(self, name: str, size: int = 50) -> None:
        """Create or replace an object."""
        self._attempts += 1
        tag = f"{name}-{self._attempts}-{size}"
        current = self._store.latest(_key(name))
        expected = current.revision if current else None
        self._report("try", name, tag)
        with _answers(self._report, "write"):
            entry = await self._store.write(_key(name), expected, lambda revision: _encode(tag, revision))
            self._report("acknowledged", name, tag, entry.revision)
        self._require_view_of_readers(name)

    async def remove(self, name: str) -> None:
        """Delete an object, if it is there."""
        current = self._store.latest(_key(name))
        if current is None:
            return
        self._report("try", name, None)
        with _answers(self._report, "delete"):
            entry = await self._store.delete(
                _key(name), current.revision, lambda revision: _encode("deleted", revision)
            )
            self._report("acknowledged", name, None, entry.revision)
        self._require_view_of_readers(name)

    async def compact(self) -> None:
        """Forget history."""
        with _answers(self._report, "compact"):
            await self._store.compact()

    async def back_up(self, path: str) -> None:
        """Write a backup."""
        self._report("backup", path, _snapshot(self._store))
        with _answers(self._report, "backup"):
            await self._store.backup(path)
            self._report("backed up", path)

    def _require_view_of_readers(self, name: str) -> None:
        entry = self._store.get(_key(name))
        self._report("read", name, _tag(entry.data) if entry else None)


async def play(directory: str, report: Report) -> None:
    """Open, write, compact, make a checkpoint, back up, close, restore and go on with that."""
    threading.excepthook = lambda failure: report("broken", f"a thread died: {failure.exc_value!r}")
    sqlite_journal.CHECKPOINT_BYTES = _CHECKPOINT_BYTES
    backup, restored = f"{directory}.backup", f"{directory}.restored"
    with _answers(report, "open"):
        store = await Store.open(directory, limits=LIMITS)
        report("opened")
        player = Player(store, report)
        names = [f"w{number}" for number in range(_OBJECTS)]
        await asyncio.gather(*[player.put(name) for name in names])
        for name in names:
            await player.put(name, 9000)
        await player.remove("w0")
        await player.compact()
        await asyncio.gather(*[player.put(name, _BIG) for name in names])
        await player.back_up(backup)
        await player.put("after-the-checkpoint")
        await player.remove("w1")
        await player.compact()
        await player.put("at-last")
        if not store.serving:
            report("broken", "the store stopped to serve")
        with _answers(report, "close"):
            await store.close()
            report("closed")
    with _answers(report, "restore"):
        report("restoring", backup, restored)
        restore(backup, restored)
        report("restored")
        await (await Store.open(restored)).close()
    report("finished")


@contextlib.contextmanager
def _answers(report: Report, step: str) -> Any:
    try:
        yield
    except StorageError as error:
        report("refused", step, error.code, str(error))
    except Exception as error:  # noqa: BLE001 - that is what we are looking for
        report("broken", f"{step}: {error!r} {places(error)}")


def places(error: BaseException) -> str:
    """Where an error came from, in a few words."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return " < ".join(f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in reversed(frames))


# The process that checks.


class Ledger:
    """What may be in the store, and what has to be."""

    def __init__(self, before: Ledger | None = None) -> None:
        """Begin with an empty store, or with what another life left."""
        self.possible: dict[str, set[str | None]] = {}
        self.readable: dict[str, str | None] = {}
        self.revision = 0
        self.acknowledged = 0
        self.refused: list[str] = []
        self.backup: tuple[str, Snapshot] | None = None
        self.steps: set[str] = set()
        if before is not None:
            self.possible = {name: {tag} for name, tag in before.readable.items()}
            self.readable = dict(before.readable)
            self.revision = before.revision

    def hear(self, message: list[Any]) -> None:
        """Note a report of the player."""
        step, *details = message
        self.steps.add(step)
        match step, *details:
            case "try", name, tag:
                self.possible.setdefault(name, {None}).add(tag)
            case "acknowledged", name, tag, revision:
                self.possible[name] = {tag}
                self.readable[name] = tag
                self.acknowledged += 1
                require(revision > 0, f"{name} has revision {revision}")
                self.revision = max(revision, self.revision)
            case "read", name, tag:
                require(tag == self.readable.get(name), f"{name} reads {tag}, not {self.readable.get(name)}")
            case "backup", path, snapshot:
                self.backup = (path, snapshot)
            case "refused", at, code, text:
                self.refused.append(f"{at}: {code} {text}")
            case "broken", text:
                raise Broken(text)

    def check(self, directory: str) -> None:
        """Compare with what is there after a start without faults."""
        asyncio.run(self._check(directory))

    async def _check(self, directory: str) -> None:
        stored, revision = await read(directory)
        require(revision >= self.revision, f"at {revision}, but {self.revision} was acknowledged")
        for name in stored.keys() | self.possible.keys():
            may_be = self.possible.get(name, {None})
            require(stored.get(name) in may_be, f"{name} is {stored.get(name)}, but may be {may_be}")
        await self._check_backup()
        await self._check_restored(f"{directory}.restored")

    async def _check_backup(self) -> None:
        if self.backup is None or not os.path.exists(self.backup[0]):
            require("backed up" not in self.steps, "an acknowledged backup is missing")
            return
        path, snapshot = self.backup
        restore(path, f"{path}.checked")
        stored, _ = await read(f"{path}.checked")
        require(stored == snapshot, f"the backup has {stored}, not {snapshot}")

    async def _check_restored(self, directory: str) -> None:
        if not os.path.isdir(directory) or not os.listdir(directory):
            require("restored" not in self.steps, "a restored store is missing")
            return
        assert self.backup is not None
        try:
            stored, _ = await read(directory)
        except StorageError:
            require("restored" not in self.steps, "a restored store is refused")
            return
        require(stored == self.backup[1], f"the restored store has {stored}, not {self.backup[1]}")


async def read(directory: str) -> tuple[Snapshot, int]:
    """Open a store, write to it, and return what was there before."""
    store = await Store.open(directory)
    try:
        before = _snapshot(store), store.revision
        await store.write(_key("checked"), None, lambda revision: _encode("checked", revision))
    finally:
        await store.close()
    store = await Store.open(directory)
    try:
        after = _snapshot(store)
    finally:
        await store.close()
    require(after == before[0] | {"checked": "checked"}, f"{before[0]} became {after}")
    return before


def require(condition: bool, otherwise: str) -> None:
    """Raise Broken unless a promise was kept."""
    if not condition:
        raise Broken(otherwise)


def _key(name: str) -> tuple[str, str, str]:
    return (RESOURCE, "default", name)


def _encode(tag: str, revision: int) -> bytes:
    size = int(tag.rpartition("-")[2]) if tag[-1].isdigit() else 0
    return json.dumps({"rv": revision, "tag": tag, "filling": "x" * size}).encode()


def _tag(data: bytes) -> str:
    return str(json.loads(data)["tag"])


def _snapshot(store: Store) -> Snapshot:
    return {entry.key[2]: _tag(entry.data) for entry in store.list(RESOURCE)}
