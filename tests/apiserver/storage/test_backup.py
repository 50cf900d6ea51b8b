"""Backups are snapshots, and a restored store goes on without ever repeating a revision."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from pathlib import Path

import pytest

from crossply.apiserver.storage import (
    Compacted,
    Entry,
    Key,
    StorageDamaged,
    StorageFailed,
    Store,
    WouldOverwrite,
    restore,
)
from tests.support.apiserver.stored_objects import WIDGETS, create, delete, update, widget


@pytest.fixture
def backup_file(tmp_path: object) -> str:
    return f"{tmp_path}/backup.db"


@pytest.fixture
def restored(tmp_path: object) -> str:
    return f"{tmp_path}/restored"


async def test_a_backup_during_writes_is_a_snapshot(directory: str, backup_file: str, restored: str) -> None:
    store = await Store.open(directory)
    states: dict[int, dict[Key, Entry]] = {1: {}}

    def on_event(_: object) -> None:
        event = store.events(WIDGETS, max(states))[0]
        state = dict(states[max(states)])
        state.pop(event.key, None)
        if event.type != "DELETED":
            state[event.key] = event.entry()
        states[event.revision] = state

    store.subscribe(WIDGETS, on_event)
    writing = True

    async def writer(name: str) -> None:
        while writing:
            await create(store, widget(name), "x" * 500)
            await update(store, widget(name))
            await delete(store, widget(name))

    writers = [asyncio.ensure_future(writer(f"w{number}")) for number in range(16)]
    await asyncio.sleep(0.05)
    backups = []
    for number in range(3):
        backups.append((await store.backup(f"{backup_file}{number}"), f"{backup_file}{number}"))
        await asyncio.sleep(0.01)
    writing = False
    await asyncio.gather(*writers)
    await store.close()
    assert len({revision for revision, _ in backups}) > 1
    for number, (revision, path) in enumerate(backups):
        restore(path, f"{restored}{number}")
        copy = await Store.open(f"{restored}{number}")
        assert {entry.key: entry for entry in copy.list(WIDGETS)} == states[revision]
        await copy.close()


async def test_a_store_in_memory_can_be_backed_up_and_restored_to_disk(
    backup_file: str, restored: str
) -> None:
    store = await Store.open(None)
    entry = await create(store, widget("a"), "kept")
    await store.backup(backup_file)
    await store.close()
    restore(backup_file, restored)
    copy = await Store.open(restored)
    assert copy.list(WIDGETS) == [entry]
    await copy.close()


async def test_a_restored_store_starts_above_every_issued_revision(
    directory: str, backup_file: str, restored: str
) -> None:
    store = await Store.open(directory)
    await create(store, widget("a"))
    await store.backup(backup_file)
    value = [(await update(store, widget("a"))).revision for _ in range(5)]  # after the backup
    lineage = store.lineage
    await store.close()
    for attempt in ("once", "twice"):  # the same backup, restored again after writes to the first copy
        revision = restore(backup_file, f"{restored}-{attempt}")
        copy = await Store.open(f"{restored}-{attempt}")
        assert copy.revision == copy.compacted == revision > max(value)
        assert copy.lineage != lineage
        with pytest.raises(Compacted):
            copy.events(WIDGETS, max(value))
        value += [(await update(copy, widget("a"))).revision for _ in range(5)]
        assert value == sorted(set(value))
        await copy.close()


async def test_a_clock_that_is_wrong_does_not_make_revisions_go_back(
    directory: str, backup_file: str, restored: str
) -> None:
    store = await Store.open(None)
    await create(store, widget("a"))
    await store.backup(backup_file)
    await store.close()
    first = restore(backup_file, directory)
    store = await Store.open(directory)
    await store.backup(f"{backup_file}.2")
    await store.close()
    assert restore(f"{backup_file}.2", restored, clock=lambda: 0.0) == first + 1_000_000_000
    assert first == pytest.approx(time.time() * 1e6, rel=0.01)


async def test_nothing_is_overwritten(directory: str, backup_file: str, restored: str) -> None:
    store = await Store.open(directory)
    await store.backup(backup_file)
    with pytest.raises(WouldOverwrite, match="exists already"):
        await store.backup(backup_file)
    with pytest.raises(WouldOverwrite, match="is not empty"):
        restore(backup_file, directory)
    await store.close()
    restore(backup_file, restored)
    with pytest.raises(WouldOverwrite, match="is not empty"):
        restore(backup_file, restored)


async def test_backups_are_private_and_leave_nothing_beside_them(directory: str, backup_file: str) -> None:
    store = await Store.open(directory)
    await store.backup(backup_file)
    await store.close()
    assert stat.S_IMODE(os.stat(backup_file).st_mode) == 0o600
    assert sorted(os.listdir(os.path.dirname(backup_file))) == ["backup.db", "data"]


async def test_a_backup_to_nowhere_fails_and_the_store_goes_on(directory: str, tmp_path: object) -> None:
    store = await Store.open(directory)
    with pytest.raises(StorageFailed, match="No such file or directory"):
        await store.backup(f"{tmp_path}/absent/backup.db")
    await create(store, widget("a"))
    await store.close()


async def test_a_bad_backup_is_not_restored(directory: str, backup_file: str, restored: str) -> None:
    store = await Store.open(directory)
    await create(store, widget("a"), "x" * 1000)
    with pytest.raises(StorageFailed, match="is not a backup: it is a database in use"):
        restore(f"{directory}/crossply.db", restored)
    await store.backup(backup_file)
    await store.close()
    with pytest.raises(StorageFailed, match="there is no backup"):
        restore(f"{backup_file}.absent", restored)
    with open(backup_file, "rb+") as file:
        damaged = file.read().replace(b"xxxx", b"xxyx", 1)
        file.seek(0)
        file.write(damaged)
    with pytest.raises(StorageDamaged, match="checksum is wrong"):
        restore(backup_file, restored)
    assert os.listdir(restored) == []


async def test_a_backup_of_which_a_page_is_older_than_the_rest_is_not_restored(
    backup_file: str, tmp_path: object
) -> None:
    """As when a newer backup is copied over an older one, and the disk loses the write of a page."""
    store = await Store.open(None)
    for number in range(40):
        await create(store, widget(f"w{number}"), "x" * 500)
    await store.backup(f"{backup_file}.older")
    for number in range(0, 40, 5):
        await delete(store, widget(f"w{number}"))
    expected = store.list(WIDGETS)
    await store.backup(backup_file)
    await store.close()
    newer, older = Path(backup_file).read_bytes(), Path(f"{backup_file}.older").read_bytes()
    refused = []
    for place in range(0, len(newer), 8192):
        Path(backup_file).write_bytes(newer[:place] + older[place : place + 8192] + newer[place + 8192 :])
        directory = f"{tmp_path}/restored-{place}"
        try:
            restore(backup_file, directory)
        except StorageDamaged as error:
            refused.append(str(error))
        else:
            copy = await Store.open(directory)
            assert copy.list(WIDGETS) == expected
            await copy.close()
    assert any("that it was created with" in message for message in refused)
