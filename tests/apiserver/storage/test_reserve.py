"""The reserve: space for deletions on a full disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from crossply.apiserver.storage import Compacted, StorageFull, Store
from crossply.apiserver.storage.backup import new_lineage
from crossply.apiserver.storage.database import create_database, open_database
from crossply.apiserver.storage.disk_reserve import RESERVE_BYTES, Reserve
from crossply.apiserver.storage.entries import Event
from tests.support.apiserver.stored_objects import WIDGETS, create, delete, names, widget
from tests.support.small_disk import empty, fill, grow, small_disk

_LARGE = "x" * 200_000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "64m") as path:
        yield path


async def _fill_store(store: Store) -> int:
    """Create objects until one is refused; gives their number."""
    for number in range(1000):
        try:
            await create(store, widget(f"w{number}"), _LARGE)
        except StorageFull:
            return number
    raise AssertionError("the disk was never full")


async def test_of_concurrent_writes_on_a_full_disk_the_deletions_succeed(disk: Path) -> None:
    store = await Store.open(f"{disk}/data")
    count = await _fill_store(store)
    fill(disk)
    results = await asyncio.gather(
        create(store, widget("new"), _LARGE),
        delete(store, widget("w0")),
        delete(store, widget("w1")),
        create(store, widget("w0"), _LARGE),
        return_exceptions=True,
    )
    assert [isinstance(result, StorageFull) for result in results] == [True, False, False, True]
    assert store.latest(widget("w0")) is None
    assert store.count(WIDGETS) == count - 2
    await store.close()
    store = await Store.open(f"{disk}/data")
    assert store.count(WIDGETS) == count - 2
    await store.close()


async def test_all_objects_can_be_deleted_one_by_one_and_their_space_is_reused(disk: Path) -> None:
    store = await Store.open(f"{disk}/data")
    for _ in range(2):
        count = await _fill_store(store)
        fill(disk)
        for number in range(count):
            await delete(store, widget(f"w{number}"))
        assert store.list(WIDGETS) == []
    await store.close()


async def test_watches_see_deletions_on_a_full_disk_whole(disk: Path) -> None:
    store = await Store.open(f"{disk}/data")
    await _fill_store(store)
    fill(disk)
    observed: list[Event] = []
    store.subscribe(WIDGETS, observed.append)
    await delete(store, widget("w0"), _LARGE)
    assert [event.type for event in observed] == ["DELETED"]
    assert _LARGE.encode() in observed[0].data
    await store.close()


async def test_history_before_a_deletion_on_a_full_disk_is_not_shown_after_a_crash(directory: str) -> None:
    os.makedirs(directory)
    path = f"{directory}/crossply.db"
    create_database(path, new_lineage(), 0)
    journal, _ = open_database(path)
    journal.commit(
        [Event(2, "ADDED", widget("kept"), b'{"a":1}'), Event(3, "ADDED", widget("gone"), b'{"b":1}')]
    )
    journal.commit_from_reserve([Event(4, "DELETED", widget("gone"), b'{"b":1}', b'{"b":1}', 3)])
    journal.close()
    for _ in range(2):
        store = await Store.open(directory)
        assert names(store.list(WIDGETS)) == ["kept"]
        assert store.revision == 4
        assert store.events(WIDGETS, 4) == []
        with pytest.raises(Compacted):
            store.events(WIDGETS, 3)
        await store.close()


def test_the_reserve_occupies_space_that_is_released_and_reoccupied(disk: Path) -> None:
    reserve = Reserve(f"{disk}/reserve")
    assert reserve.is_allocated
    assert os.stat(f"{disk}/reserve").st_blocks * 512 == reserve.bytes == RESERVE_BYTES
    fill(disk)
    reserve.release()
    assert os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize == RESERVE_BYTES
    empty(disk)
    fill(disk)
    assert not reserve.restore()
    assert not os.path.exists(f"{disk}/reserve")
    empty(disk)
    assert reserve.restore()


def test_the_reserve_of_a_small_disk_is_a_part_of_it(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        assert Reserve(f"{disk}/reserve").bytes == 1 << 20
        grow(disk, "8m")
        assert Reserve(f"{disk}/reserve").bytes == 1 << 20  # what is there stays
