"""Opening a store: what is there again, and what is refused before anything is touched."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import stat
import subprocess
import sys
import textwrap

import apsw
import pytest

from crossply.apiserver.storage import (
    HistoryLimits,
    NewerDatabase,
    StorageDamaged,
    StorageError,
    StorageFailed,
    StorageInUse,
    Store,
)
from tests.support.apiserver.stored_objects import WIDGETS, create, delete, update, widget


async def fill(directory: str) -> Store:
    store = await Store.open(directory)
    await asyncio.gather(*[create(store, widget(f"w{number}"), "x" * 300) for number in range(20)])
    await update(store, widget("w3"), "changed")
    await delete(store, widget("w4"))
    return store


def database_of(directory: str) -> str:
    return os.path.join(directory, "crossply.db")


async def test_a_restart_has_all_objects(directory: str) -> None:
    store = await fill(directory)
    entries, events = store.list(WIDGETS), store.events(WIDGETS, 0)
    revision, lineage = store.revision, store.lineage
    await store.close()
    store = await Store.open(directory)
    assert (store.list(WIDGETS), store.events(WIDGETS, 0)) == (entries, events)
    assert (store.revision, store.lineage) == (revision, lineage)
    assert (await create(store, widget("new"))).revision == revision + 1
    await store.close()


async def test_the_revision_stays_when_all_history_and_all_objects_are_gone(directory: str) -> None:
    store = await Store.open(directory)
    await create(store, widget("a"))
    await delete(store, widget("a"))
    await store.compact()
    await store.close()
    store = await Store.open(directory)
    assert (store.revision, store.compacted, store.resources()) == (3, 3, set())
    await store.close()


async def test_history_over_its_limits_is_dropped_in_memory_and_on_disk(directory: str) -> None:
    limits = HistoryLimits(events=100)
    store = await Store.open(directory, limits=limits)
    await create(store, widget("a"))
    for _ in range(30):
        await asyncio.gather(*[update(store, widget("a")) for _ in range(10)])
    assert 60 <= store.revision - store.compacted <= 100
    await store.close()
    store = await Store.open(directory, limits=limits)
    assert 60 <= store.revision - store.compacted <= 100
    assert len(store.events(WIDGETS, store.compacted)) == store.revision - store.compacted
    await store.close()


async def test_files_are_private_to_the_user(directory: str) -> None:
    store = await fill(directory)
    modes = {
        name: stat.S_IMODE(os.stat(os.path.join(directory, name)).st_mode) for name in os.listdir(directory)
    }
    assert modes == dict.fromkeys(
        ("crossply.db", "crossply.db-mark", "crossply.db-reserve", "crossply.db-wal", "lock"), 0o600
    )
    assert stat.S_IMODE(os.stat(directory).st_mode) == 0o700
    await store.close()


async def test_a_second_store_on_the_same_directory_is_refused(directory: str) -> None:
    store = await fill(directory)
    with pytest.raises(StorageInUse, match=f"in use by another process \\(process {os.getpid()}\\)"):
        await Store.open(directory)
    await create(store, widget("still-served"))
    await store.close()
    await (await Store.open(directory)).close()


SECOND = """
    import asyncio, sys
    from crossply.apiserver.storage import StorageInUse, Store
    try:
        asyncio.run(Store.open(sys.argv[1]))
    except StorageInUse as error:
        sys.exit(f"refused: {error}")
"""


async def test_a_second_process_is_refused(directory: str) -> None:
    store = await fill(directory)
    second = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SECOND), directory], capture_output=True, text=True
    )
    assert second.stderr.startswith("refused: "), second.stderr
    assert store.get(widget("w1")) is not None
    await store.close()


async def test_another_program_in_the_database_is_noticed(directory: str) -> None:
    await (await fill(directory)).close()
    other = apsw.Connection(database_of(directory))
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StorageInUse, match="another program"):
        await Store.open(directory)
    other.close()


@pytest.mark.parametrize("closed_well", [True, False], ids=["closed", "crashed"])
async def test_a_newer_database_is_refused_untouched(
    directory: str, tmp_path: object, closed_well: bool
) -> None:
    store = await fill(directory)
    await store.close()
    connection = apsw.Connection(database_of(directory))
    connection.pragma("user_version", 2)
    copy = f"{tmp_path}/copy"
    if closed_well:
        connection.close()
        shutil.copytree(directory, copy)
    else:
        shutil.copytree(directory, copy)  # the newer version is in the write-ahead log only
        connection.close()
    before = read_all(copy)
    with pytest.raises(NewerDatabase, match="schema version 2, this program knows versions up to 1"):
        await Store.open(copy)
    assert read_all(copy) == before


def read_all(directory: str) -> dict[str, bytes]:
    """The content of the relevant files: the lock and the shared index of the log are recreated."""
    result = {}
    for name in sorted(os.listdir(directory)):
        if name != "lock" and not name.endswith("-shm"):
            with open(os.path.join(directory, name), "rb") as file:
                result[name] = file.read()
    return result


async def test_files_that_are_no_database_of_ours_are_refused(directory: str) -> None:
    await (await Store.open(directory)).close()
    for content, message in ((b"", "the file is empty"), (b"not a database" * 100, "not a database")):
        with open(database_of(directory), "wb") as file:
            file.write(content)
        with pytest.raises(StorageDamaged, match=message):
            await Store.open(directory)
    os.unlink(database_of(directory))
    foreign = apsw.Connection(database_of(directory))
    foreign.execute("CREATE TABLE somebody(elses)")
    foreign.close()
    with pytest.raises(StorageDamaged, match="not a database of Crossply"):
        await Store.open(directory)


async def test_a_lost_database_whose_log_is_left_is_refused(directory: str) -> None:
    store = await fill(directory)
    shutil.copy(f"{database_of(directory)}-wal", f"{directory}/kept")
    await store.close()
    os.unlink(database_of(directory))
    os.rename(f"{directory}/kept", f"{database_of(directory)}-wal")
    with pytest.raises(StorageDamaged, match="missing, but its write-ahead log is there"):
        await Store.open(directory)


async def test_a_directory_that_cannot_be_created_is_reported(tmp_path: object) -> None:
    with open(f"{tmp_path}/file", "w"):
        pass
    with pytest.raises(StorageFailed, match="cannot be made"):
        await Store.open(f"{tmp_path}/file/data")


async def test_a_row_lost_from_the_middle_of_history_is_noticed(directory: str) -> None:
    await (await fill(directory)).close()
    connection = apsw.Connection(database_of(directory))
    connection.execute("DELETE FROM log WHERE name = 'w3' AND type = 'ADDED'")
    connection.close()
    with pytest.raises(StorageDamaged, match="it does not fit what was there before it"):
        await Store.open(directory)


async def test_a_row_lost_from_the_end_of_a_page_is_noticed(directory: str) -> None:
    """No row points to it and no checksum covers it: only the structure of the page shows it."""
    store = await fill(directory)
    await store.compact()
    await store.close()
    with open(database_of(directory), "rb+") as file:
        content = bytearray(file.read())
        page = next(
            start for start in range(0, len(content), 8192) if b"spec" in content[start : start + 8192]
        )
        content[page + 4] -= 1  # the number of its cells
        file.seek(0)
        file.write(content)
    with pytest.raises(StorageDamaged, match="the database is damaged: "):
        await Store.open(directory)


async def test_flipped_bytes_are_never_served(directory: str, tmp_path: object) -> None:
    """Each flip is either without effect (unused space) or refused with a clear message."""
    store = await fill(directory)
    await store.compact(10)
    expected = (store.list(WIDGETS), store.events(WIDGETS, store.compacted), store.revision)
    await store.close()
    with open(database_of(directory), "rb") as file:
        intact = file.read()
    chance = random.Random(42)
    refused = 0
    # All of the header, and places anywhere.
    for place in [*range(0, 110, 3), *(chance.randrange(len(intact)) for _ in range(160))]:
        damaged = bytearray(intact)
        damaged[place] ^= 1 << chance.randrange(8)
        with open(database_of(directory), "wb") as file:
            file.write(damaged)
        try:
            store = await Store.open(directory)
        except StorageError:
            refused += 1
            continue
        assert (store.list(WIDGETS), store.events(WIDGETS, store.compacted), store.revision) == expected, (
            place
        )
        await store.close()
        for name in ("-wal", "-shm"):
            assert not os.path.exists(database_of(directory) + name)
    assert refused > 30
