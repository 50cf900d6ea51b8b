"""The power is cut: whatever was not synced may be lost, torn or written out of order."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from typing import NamedTuple

from crossply.apiserver.storage import Entry, HistoryLimits, Store
from tests.support.apiserver.disk_faults import FaultySystem, Operation
from tests.support.apiserver.stored_objects import WIDGETS, create, delete, update, widget


class Acknowledged(NamedTuple):
    """A write that was answered when the tape of operations had this length."""

    tape_length: int
    entry: Entry
    deleted: bool


def read_files(directory: str) -> dict[str, bytearray]:
    files = {}
    for name in os.listdir(directory):
        if name.startswith("crossply.db"):
            with open(os.path.join(directory, name), "rb") as file:
                files[name] = bytearray(file.read())
    return files


def after_power_cut(
    start: dict[str, bytearray], tape: list[Operation], chance: random.Random
) -> dict[str, bytearray]:
    """What may be on the disk: all that was synced, and of the rest whatever chance leaves."""
    files = {name: bytearray(content) for name, content in start.items()}
    synced = {operation.file: index for index, operation in enumerate(tape) if operation.kind == "sync"}
    for index, operation in enumerate(tape):
        content = files.setdefault(operation.file, bytearray())
        certain = index < synced.get(operation.file, -1)
        if operation.kind == "truncate" and (certain or chance.random() < 0.5):
            del content[operation.offset :]
        elif operation.kind == "write" and (certain or chance.random() < 0.6):
            data = operation.data
            if not certain and chance.random() < 0.3:
                data = data[: len(data) // 512 // 2 * 512]  # a torn write ends at a sector
            if len(content) < operation.offset:
                content.extend(bytes(operation.offset - len(content)))
            content[operation.offset : operation.offset + len(data)] = data
    return files


class Mark(NamedTuple):
    """The content of the mark when the tape of operations had this length."""

    tape_length: int
    content: bytes


def read_mark_file(directory: str) -> bytes:
    with open(os.path.join(directory, "crossply.db-mark"), "rb") as file:
        return file.read()


def torn_mark(older: bytes, newer: bytes, chance: random.Random) -> bytes:
    """The mark is written back at any time, each of its two records by itself."""
    return b"".join(chance.choice([older, newer])[start : start + 4096] for start in (0, 4096))


async def record(
    directory: str, disk: FaultySystem
) -> tuple[list[Operation], list[Acknowledged], list[Mark]]:
    """Let writers work, with compaction and checkpoints in between."""
    tape: list[Operation] = []
    answered: list[Acknowledged] = []
    marks: list[Mark] = []
    disk.tape = tape
    store = await Store.open(directory, limits=HistoryLimits(events=60))
    marks.append(Mark(0, read_mark_file(directory)))

    async def writer(name: str) -> None:
        for round_ in range(8):
            steps = [(create, False), (update, False), (delete, True)]
            for step, deleted in steps[: 3 if round_ < 7 else 2]:
                entry = await step(store, widget(name), "x" * 12_000)
                answered.append(Acknowledged(len(tape), entry, deleted))
                content = read_mark_file(directory)
                marks.append(Mark(len(tape), content))

    await asyncio.gather(*[writer(f"w{number}") for number in range(16)])
    disk.tape = None
    await store.close()
    return tape, answered, marks


async def check(directory: str, answered: list[Acknowledged]) -> None:
    store = await Store.open(directory)
    newest = {acknowledged.entry.key: acknowledged for acknowledged in answered}
    for key, (_, entry, deleted) in newest.items():
        result = store.get(key)
        later = [event for event in store.events(WIDGETS, store.compacted) if event.key == key]
        if later and later[-1].revision > entry.revision:
            continue  # a write in flight was stored, which is allowed
        assert result == (None if deleted else entry)
    assert store.revision >= max((acknowledged.entry.revision for acknowledged in answered), default=0)
    await store.close()


async def test_acknowledged_writes_survive_a_power_cut_at_any_point(
    directory: str, tmp_path: object, disk: FaultySystem
) -> None:
    await (await Store.open(directory)).close()
    start = read_files(directory)
    tape, answered, marks = await record(directory, disk)
    chance = random.Random(11)
    assert {operation.file for operation in tape} == {"crossply.db", "crossply.db-wal"}
    for cut in sorted(chance.sample(range(len(tape)), 25)):
        image = f"{tmp_path}/image"
        os.mkdir(image)
        files = after_power_cut(start, tape[:cut], chance)
        older, newer = sorted(chance.choices([mark for mark in marks if mark.tape_length <= cut], k=2))
        files["crossply.db-mark"] = bytearray(torn_mark(older.content, newer.content, chance))
        for name, content in files.items():
            with open(os.path.join(image, name), "wb") as file:
                file.write(content)
        await check(image, [acknowledged for acknowledged in answered if acknowledged.tape_length <= cut])
        shutil.rmtree(image)
