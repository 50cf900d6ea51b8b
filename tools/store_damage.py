"""Damage the files of a store as disks and people do, and check that what is served is right, or nothing.

A start on damaged files either refuses with an error of the store, or has exactly what was acknowledged:
the objects, the history and the newest revision.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from store_scenario import Broken

from crossply.apiserver.storage import Entry, Event, HistoryLimits, StorageError, Store, restore

RESOURCE = "widgets.example.org"
DATABASE, LOG, MARK, BACKUP = "crossply.db", "crossply.db-wal", "crossply.db-mark", "backup.db"
_UNITS = {DATABASE: (0, 8192), LOG: (32, 8192 + 24), MARK: (0, 4096), BACKUP: (0, 8192)}
"""The size of a file's header, and of what follows it again and again: pages, frames, records."""

Files = dict[str, bytes]


class Snapshot(NamedTuple):
    """The files of a store at one moment, and what a start has to find in them."""

    files: Files
    entries: list[Entry]
    revision: int
    compacted: int
    lineage: str
    past: list[Event]
    """Every event since the store was made."""
    description: str

    def difference(self, store: Store) -> str:
        """What a store has that is wrong, or "". It may have more history than it has to: purges are late."""
        if (store.lineage, store.revision) != (self.lineage, self.revision):
            return f"revision {store.revision}, not {self.revision}"
        if lacks := self.difference_of_objects(store):
            return lacks
        if store.compacted > self.compacted:
            return f"history begins at {store.compacted}, not {self.compacted}"
        expected = [event for event in self.past if store.compacted < event.revision <= self.revision]
        events = store.events(RESOURCE, store.compacted)
        return "" if events == expected else f"wrong events: {len(events)} of {len(expected)}"

    def difference_of_objects(self, store: Store) -> str:
        """As `difference`, of the objects alone: that is all that a backup has."""
        entries = store.list(RESOURCE)
        return "" if entries == self.entries else f"wrong objects: {len(entries)} of {len(self.entries)}"


# Damages. Each takes the content of a file, an older one of the same file, and its layout.


def flip_bits(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 8])):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def overwrite(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    """Some bytes of noise, as by a program that wrote into the wrong file."""
    place = chance.randrange(len(data))
    noise = chance.randbytes(min(chance.choice([1, 4, 16, 512]), len(data) - place))
    return data[:place] + noise + data[place + len(noise) :]


def truncate(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    if chance.random() < 0.5:
        return data[: chance.randrange(len(data))]
    return data[: start + size * chance.randrange(max(_units(data, start, size), 1))]


def extend(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    return data + chance.choice([bytes(size), chance.randbytes(size), data[:size], chance.randbytes(100)])


def zero_unit(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    return _put(data, _place(chance, data, start, size), bytes(size))


def zero_sector(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    place = chance.randrange(0, len(data), 512)
    return _put(data, place, bytes(512))


def swap_units(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    one, other = _place(chance, data, start, size), _place(chance, data, start, size)
    swapped = _put(data, one, data[other : other + size])
    return _put(swapped, other, data[one : one + size])


def copy_unit(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    """A write that went to the wrong place."""
    one, other = _place(chance, data, start, size), _place(chance, data, start, size)
    return _put(data, one, data[other : other + size])


def old_unit(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    """A write that the disk lost."""
    if len(older) < start + size:
        return data
    place = _place(chance, older, start, size)
    return _put(data, place, older[place : place + size]) if place < len(data) else data


def old_sector(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    if len(older) < 512:
        return data
    place = chance.randrange(0, len(older) - 511, 512)
    return _put(data, place, older[place : place + 512]) if place < len(data) else data


def old_file(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    return older


def no_file(chance: random.Random, data: bytes, older: bytes, start: int, size: int) -> bytes:
    return b""


Damage = Callable[[random.Random, bytes, bytes, int, int], bytes]
DAMAGES: tuple[Damage, ...] = (
    flip_bits, overwrite, truncate, extend, zero_unit, zero_sector, swap_units, copy_unit, old_unit,
    old_sector, old_file, no_file,
)  # fmt: skip


def _units(data: bytes, start: int, size: int) -> int:
    return max(len(data) - start, 0) // size


def _place(chance: random.Random, data: bytes, start: int, size: int) -> int:
    return start + size * chance.randrange(max(_units(data, start, size), 1))


def _put(data: bytes, place: int, piece: bytes) -> bytes:
    return (data[:place] + piece + data[place + len(piece) :])[: max(len(data), place + len(piece))]


# A store with a past.


async def live(directory: str, chance: random.Random) -> list[Snapshot]:
    """Let a store live through writes, compactions, checkpoints and restarts; return moments of that."""
    snapshots: list[Snapshot] = []
    past: list[Event] = []

    async def note(description: str) -> None:
        backup = Path(directory, BACKUP)
        await store.backup(str(backup))
        entries, files = store.list(RESOURCE), _read_files(directory)
        backup.unlink()
        snapshots.append(
            Snapshot(files, entries, store.revision, store.compacted, store.lineage, past, description)
        )

    store = await Store.open(directory, limits=HistoryLimits(events=60))
    store.subscribe(RESOURCE, past.append)
    for number in range(12):
        for _ in range(chance.randrange(5, 25)):
            await _change(store, chance)
        if chance.random() < 0.4:
            await store.compact(chance.choice([None, max(store.revision - 5, 1)]))
        await note(f"open, moment {number}")
        if chance.random() < 0.5:
            await store.close()
            await note(f"closed, moment {number}")
            store = await Store.open(directory, limits=HistoryLimits(events=60))
            store.subscribe(RESOURCE, past.append)
    await store.close()
    return snapshots


async def _change(store: Store, chance: random.Random) -> None:
    key = (RESOURCE, "default", f"w{chance.randrange(60)}")
    size = chance.choice([10, 300, 2000, 12_000])

    def encode(revision: int) -> bytes:
        return json.dumps({"rv": revision, "filling": "x" * size}).encode()

    current = store.latest(key)
    if current is not None and chance.random() < 0.3:
        await store.delete(key, current.revision, encode)
    else:
        await store.write(key, current.revision if current else None, encode)


def _read_files(directory: str) -> Files:
    paths = [Path(directory, name) for name in (DATABASE, LOG, MARK, BACKUP)]
    return {path.name: path.read_bytes() for path in paths if path.exists()}


# Trials.


class Trial(NamedTuple):
    """A damage to one file of one moment."""

    snapshot: Snapshot
    older: Snapshot
    file: str
    damage: Damage
    seed: str

    def damaged(self) -> Files:
        data = self.snapshot.files[self.file]
        chance = random.Random(self.seed)
        older = self.older.files.get(self.file, b"")
        start, size = _UNITS[self.file]
        changed = self.damage(chance, data, older, start, size) if data else data
        files = {**self.snapshot.files, self.file: changed}
        if self.damage is no_file or (self.damage is old_file and not older):
            del files[self.file]
        return files

    def __str__(self) -> str:
        snapshots = f"{self.snapshot.description}, older: {self.older.description}"
        return f"{self.damage.__name__} of {self.file} ({snapshots})"


def choose(chance: random.Random, snapshots: list[Snapshot], seed: str) -> Trial:
    """A trial whose older moment is really older."""
    newer = chance.randrange(1, len(snapshots))
    snapshot, older = snapshots[newer], snapshots[chance.randrange(newer)]
    file = chance.choice(sorted(snapshot.files))
    # An older backup as a whole is a good backup.
    damages = [damage for damage in DAMAGES if file != BACKUP or damage is not old_file]
    return Trial(snapshot, older, file, chance.choice(damages), seed)


async def try_out(trial: Trial, directory: Path) -> str:
    """Start on the damaged files; returns the code of the error, or "served". Raises Broken."""
    files = trial.damaged()
    directory.mkdir()
    for name, data in files.items():
        (directory / name).write_bytes(data)
    started = directory / "restored" if trial.file == BACKUP else directory
    try:
        if trial.file == BACKUP:
            restore(str(directory / BACKUP), str(started))
        store = await Store.open(str(started))
    except StorageError as error:
        return error.code
    except Exception as error:
        raise Broken(f"{trial}: {error!r}") from error
    try:
        difference = (
            trial.snapshot.difference(store)
            if trial.file != BACKUP
            else trial.snapshot.difference_of_objects(store)
        )
        if difference:
            raise Broken(f"{trial}: {difference}")
        await store.write(
            (RESOURCE, "default", "after"), None, lambda revision: json.dumps({"rv": revision}).encode()
        )
    finally:
        await store.close()
    return "served"


async def damage(trials: int, seed: int, on_broken: Callable[[str], None]) -> Counter[str]:
    """Try damages out; the result counts what the starts ended in."""
    outcomes: Counter[str] = Counter()
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="store-damage-") as place:
        snapshots = await live(os.path.join(place, "intact"), chance)
        for number in range(trials):
            trial = choose(chance, snapshots, f"{seed}/{number}")
            directory = Path(place, "damaged")
            try:
                outcomes[await try_out(trial, directory)] += 1
            except Broken as broken:
                outcomes["broken"] += 1
                on_broken(f"{number}: {broken}")
            shutil.rmtree(directory)
    return outcomes
