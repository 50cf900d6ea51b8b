"""Many writers share one sync of the disk; a failed commit takes back exactly what depends on it."""

from __future__ import annotations

import asyncio
import itertools
import resource
import subprocess
import sys
import textwrap
from collections.abc import Awaitable, Iterator
from pathlib import Path

import apsw
import pytest

from crossply.apiserver.storage import Entry, Exists, StorageError, StorageFailed, StorageFull, Store
from tests.support.apiserver.disk_faults import FaultySystem
from tests.support.apiserver.stored_objects import WIDGETS, content_of, create, delete, names, update, widget
from tests.support.small_disk import grow, small_disk


async def test_concurrent_writers_share_commits_and_syncs(directory: str, disk: FaultySystem) -> None:
    store = await Store.open(directory)
    await create(store, widget("first"))
    disk.tape, commits_before = [], store.commits
    await asyncio.gather(*[create(store, widget(f"w{number}")) for number in range(64)])
    commits = store.commits - commits_before
    assert store.count(WIDGETS) == 65
    # One, unless the writer's thread gets its turn before all writes are queued.
    assert commits <= 4
    assert [operation.kind for operation in disk.tape].count("sync") == commits
    await store.close()


async def test_writes_that_come_during_a_sync_go_out_together_after_it(
    directory: str, disk: FaultySystem
) -> None:
    store = await Store.open(directory)
    disk.may_sync.clear()
    writes = [asyncio.ensure_future(create(store, widget("first")))]
    await asyncio.sleep(0.05)
    for number in range(30):  # in many turns of the event loop
        writes.append(asyncio.ensure_future(create(store, widget(f"w{number}"))))
        await asyncio.sleep(0)
    assert store.list(WIDGETS) == []
    disk.may_sync.set()
    await asyncio.gather(*writes)
    assert store.commits == 2
    await store.close()


async def test_a_conflict_waits_for_the_write_it_reports_even_if_its_writer_is_cancelled(
    directory: str, disk: FaultySystem
) -> None:
    store = await Store.open(directory)
    disk.may_sync.clear()
    first = asyncio.ensure_future(create(store, widget("one")))
    await asyncio.sleep(0.05)
    second = asyncio.ensure_future(create(store, widget("one")))
    await asyncio.sleep(0.05)
    first.cancel()
    await asyncio.sleep(0.05)
    assert not second.done()
    disk.may_sync.set()
    with pytest.raises(Exists):
        await second
    assert names(store.list(WIDGETS)) == ["one"]
    await store.close()


async def test_very_large_writes_are_spread_over_several_commits() -> None:
    store = await Store.open(None)
    large = "x" * (3 << 20)
    await asyncio.gather(*[create(store, widget(f"w{number}"), large) for number in range(5)])
    assert (store.commits, store.count(WIDGETS)) == (3, 5)
    await store.close()


@pytest.mark.parametrize(
    ("operation", "error", "failure"),
    [
        ("fail_write", apsw.FullError, StorageFull),  # no space for the write-ahead log
        ("fail_write", apsw.IOError, StorageFailed),  # the disk is broken
        ("fail_sync", apsw.IOError, StorageFailed),  # written, but the sync failed: the result is unknown
        ("fail_sync", apsw.FullError, StorageFull),  # file systems that find out late
    ],
)
async def test_a_failed_commit_fails_its_writes_keeps_reads_and_recovers(
    directory: str, disk: FaultySystem, operation: str, error: type[apsw.Error], failure: type[Exception]
) -> None:
    store = await Store.open(directory)
    await create(store, widget("old"), 1)
    await create(store, widget("doomed"), 1)
    revisions: list[int] = []
    store.subscribe(WIDGETS, lambda event: revisions.append(event.revision))
    setattr(disk, operation, error)
    results = await asyncio.gather(
        update(store, widget("old"), 2), delete(store, widget("doomed")), create(store, widget("new")),
        return_exceptions=True,
    )  # fmt: skip
    assert [type(result) for result in results] == [failure] * 3
    assert names(store.list(WIDGETS)) == ["doomed", "old"]
    assert store.latest(widget("new")) is None
    assert content_of(store.latest(widget("old"))) == 1  # type: ignore[arg-type]
    setattr(disk, operation, None)
    entry = await update(store, widget("old"), 3)
    assert revisions == [entry.revision]
    assert entry.revision > 6  # the revisions of failed writes are not given again
    await store.close()
    store = await Store.open(directory)
    assert [content_of(result) for result in store.list(WIDGETS)] == [1, 3]
    await store.close()


async def test_writes_built_on_a_failed_write_fail_and_no_others(directory: str, disk: FaultySystem) -> None:
    store = await Store.open(directory)
    disk.may_sync.clear()
    first = asyncio.ensure_future(create(store, widget("failing"), 1))
    await asyncio.sleep(0.05)  # its commit is under way, the following ones wait
    dependent = [
        asyncio.ensure_future(update(store, widget("failing"), 2)),
        asyncio.ensure_future(delete(store, widget("failing"))),
        asyncio.ensure_future(create(store, widget("failing"), "again")),
    ]
    independent = asyncio.ensure_future(create(store, widget("independent")))
    await asyncio.sleep(0)
    disk.fail_sync = apsw.IOError
    disk.may_sync.set()
    with pytest.raises(StorageFailed):
        await first
    disk.fail_sync = None
    assert [type(error) for error in await asyncio.gather(*dependent, return_exceptions=True)] == [
        StorageFailed
    ] * 3
    # It was queued behind the failure; whether its own commit met the broken disk is a matter of timing.
    await asyncio.gather(independent, return_exceptions=True)
    assert store.latest(widget("failing")) is None
    assert (await create(store, widget("failing"), 5)).revision > 6
    await store.close()


async def test_when_the_writer_dies_writes_fail_and_a_restart_has_the_acknowledged_ones(
    directory: str, disk: FaultySystem
) -> None:
    """An unexpected error in a checkpoint, for which no writer waits."""
    store = await Store.open(directory)
    disk.fail_sync_of = {"crossply.db": ZeroDivisionError}
    await create(store, widget("acknowledged"), "x" * (3 << 20))
    with pytest.raises(StorageFailed, match="the writer ended with ZeroDivisionError"):
        await asyncio.wait_for(_write_until_refused(store), 60)
    with pytest.raises(StorageFailed, match="not possible any more"):
        await store.compact()
    assert not store.serving
    assert store.get(widget("acknowledged")) is not None
    await store.close()
    disk.fail_sync_of = {}
    store = await Store.open(directory)
    assert "acknowledged" in names(store.list(WIDGETS))
    await store.close()


async def _write_until_refused(store: Store) -> None:
    for number in itertools.count():
        await create(store, widget(f"w{number}"))


async def test_compaction_without_memory_is_reported(directory: str) -> None:
    store = await Store.open(directory)
    await create(store, widget("a"), 1)
    await update(store, widget("a"), 2)
    apsw.hard_heap_limit(apsw.memory_used() + 1)
    try:
        with pytest.raises(StorageFailed, match="out of memory"):
            await store.compact()
    finally:
        apsw.hard_heap_limit(0)
    await store.close()


async def test_compaction_on_a_full_disk_is_caught_up_later(directory: str, disk: FaultySystem) -> None:
    store = await Store.open(directory)
    await create(store, widget("a"), 1)
    await update(store, widget("a"), 2)
    disk.fail_write = apsw.FullError
    with pytest.raises(StorageFull):
        await store.compact()
    disk.fail_write = None
    await update(store, widget("a"), 3)
    await store.compact()
    await store.close()
    assert _rows(directory) == 1


def _rows(directory: str) -> int:
    connection = apsw.Connection(f"{directory}/crossply.db")
    try:
        return int(connection.execute("SELECT count(*) FROM log").get)
    finally:
        connection.close()


FILL_THE_DISK = """
    import asyncio, resource, sys
    from crossply.apiserver.storage import StorageError, Store

    async def main():
        store = await Store.open(sys.argv[1])
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
        kept, failed = [], 0
        for number in range(400):
            try:
                await store.write(("widgets", "", f"w{number}"), None, lambda revision: bytes(8000))
                kept.append(number)
            except StorageError:
                failed += 1
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        await store.write(("widgets", "", "after"), None, lambda revision: bytes(8000))
        assert store.count("widgets") == len(kept) + 1, (store.count("widgets"), len(kept))
        await store.close()
        store = await Store.open(sys.argv[1])
        assert store.count("widgets") == len(kept) + 1
        assert kept and failed, (kept, failed)
        await store.close()

    asyncio.run(main())
"""


def test_a_limit_of_the_system_on_file_sizes_is_survived(directory: str) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    subprocess.run([sys.executable, "-c", textwrap.dedent(FILL_THE_DISK), directory], check=True, timeout=120)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "2m") as path:
        yield path


async def test_a_disk_that_is_really_full_is_survived(tiny_disk: Path) -> None:
    store = await Store.open(f"{tiny_disk}/data")
    attempts = [await _outcome(create(store, widget(f"w{number}"), "x" * 8000)) for number in range(200)]
    remaining = attempts.count("kept")
    assert 0 < remaining < 200
    assert set(attempts) == {"kept", "StorageFull"}
    assert store.count(WIDGETS) == remaining
    grow(tiny_disk, "64m")
    await create(store, widget("after"))
    await store.close()
    store = await Store.open(f"{tiny_disk}/data")
    assert store.count(WIDGETS) == remaining + 1
    await store.close()


async def _outcome(write: Awaitable[Entry]) -> str:
    try:
        await write
    except StorageError as error:
        return type(error).__name__
    return "kept"
