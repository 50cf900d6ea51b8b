"""Killed at the worst moments, then damaged: every acknowledged write is there, or the store is refused."""

from __future__ import annotations

import asyncio
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import textwrap

import apsw
import pytest

from crossply.apiserver.storage import (
    StorageDamaged,
    StorageError,
    StorageFailed,
    Store,
    WritesLost,
    accept_loss,
    restore,
)
from tests.support.apiserver.stored_objects import WIDGETS, create, delete, widget

ROOT = pathlib.Path(__file__).parents[3]
PAGE_SIZE = 8192
FRAME = 24 + PAGE_SIZE

KILLED_IN_CHECKPOINT = """
    import asyncio, os, signal, sys
    import apsw
    from crossply.apiserver.storage import HistoryLimits, Store
    from tests.support.apiserver.disk_faults import FaultyFile, FaultySystem
    from tests.support.apiserver.stored_objects import create, update, widget

    written = 0
    whole_checkpoints, pages = int(sys.argv[2]), int(sys.argv[3])

    class DyingFile(FaultyFile):
        def xWrite(self, data, offset):
            global written
            super().xWrite(data, offset)
            if self.name == "crossply.db" and self.system.armed:
                written += 1
                if written == pages:
                    os.kill(os.getpid(), signal.SIGKILL)

    class DyingSystem(FaultySystem):
        armed = False
        def xOpen(self, name, flags):
            return DyingFile(self, name, flags)

    system = DyingSystem()

    async def main():
        store = await Store.open(sys.argv[1], limits=HistoryLimits(events=200))
        async def writer(name):
            entry = await create(store, widget(name), "x" * 5000)
            while True:
                entry = await update(store, widget(name), "x" * 5000)
                os.write(1, f"{name} {entry.revision}\\n".encode())
                system.armed = entry.revision > 700 * whole_checkpoints
        await asyncio.gather(*[writer(f"w{number}") for number in range(8)])

    asyncio.run(main())
"""


def killed_in_checkpoint(directory: str, complete_checkpoints: int, pages: int) -> dict[str, int]:
    """Kill a store after a checkpoint has written so many pages; the result is what was acknowledged."""
    program = textwrap.dedent(KILLED_IN_CHECKPOINT)
    command = [sys.executable, "-c", program, directory, str(complete_checkpoints), str(pages)]
    exit_code = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert exit_code.returncode == -signal.SIGKILL, exit_code.stderr
    return {name: int(revision) for name, revision in map(str.split, exit_code.stdout.splitlines())}


async def revisions(directory: str) -> dict[str, int]:
    store = await Store.open(directory)
    result = {entry.key[2]: entry.revision for entry in store.list(WIDGETS)}
    await store.close()
    return result


def truncate(log: pathlib.Path, share: float) -> None:
    os.truncate(log, int(log.stat().st_size * share))


def flip(log: pathlib.Path, seed: int) -> None:
    content = bytearray(log.read_bytes())
    content[random.Random(seed).randrange(len(content))] ^= 4
    log.write_bytes(content)


@pytest.mark.parametrize(("complete_checkpoints", "pages"), [(0, 1), (0, 3), (1, 40), (2, 120)])
async def test_a_kill_within_a_checkpoint_and_then_damage_never_cost_an_acknowledged_write(
    directory: str, tmp_path: pathlib.Path, complete_checkpoints: int, pages: int
) -> None:
    acknowledged = killed_in_checkpoint(directory, complete_checkpoints, pages)
    damages = [
        lambda log: None,
        pathlib.Path.unlink,
        *[lambda log, share=share: truncate(log, share) for share in (0, 0.1, 0.5, 0.9, 0.99)],
        *[lambda log, seed=seed: flip(log, seed) for seed in range(20)],
    ]
    refused = 0
    for number, damage in enumerate(damages):
        copy = shutil.copytree(directory, tmp_path / f"copy{number}")
        damage(copy / "crossply.db-wal")
        try:
            result = await revisions(str(copy))
        except WritesLost:
            assert number > 0, "nothing was damaged"
            refused += 1
        else:
            assert {
                name: result[name] >= revision for name, revision in acknowledged.items()
            } == dict.fromkeys(acknowledged, True)
    assert refused > 5


async def fill(directory: str) -> None:
    store = await Store.open(directory)
    await asyncio.gather(*[create(store, widget(f"w{number}"), "x" * 300) for number in range(20)])
    await store.close()


async def test_a_closed_store_needs_no_log_and_can_be_reopened_repeatedly(directory: str) -> None:
    await fill(directory)
    for _ in range(3):
        assert not os.path.exists(f"{directory}/crossply.db-wal")
        assert len(await revisions(directory)) == 20


async def test_a_store_of_a_version_without_marks_is_opened_and_marked(directory: str) -> None:
    await fill(directory)
    connection = apsw.Connection(f"{directory}/crossply.db")
    connection.execute("DELETE FROM meta WHERE name = 'marked'")
    connection.close()
    os.unlink(f"{directory}/crossply.db-mark")
    assert len(await revisions(directory)) == 20
    os.unlink(f"{directory}/crossply.db-mark")
    with pytest.raises(WritesLost, match="-mark is missing"):
        await Store.open(directory)


async def test_a_mark_that_cannot_be_read_is_refused_and_one_readable_record_is_enough(
    directory: str,
) -> None:
    await fill(directory)
    mark = pathlib.Path(directory, "crossply.db-mark")
    complete = mark.read_bytes()
    for torn in (complete[:4096] + b"?" * 4096, b"?" * 4096 + complete[4096:]):
        mark.write_bytes(torn)
        assert len(await revisions(directory)) == 20
    mark.write_bytes(b"?" * 8192)
    with pytest.raises(WritesLost, match="is damaged"):
        await Store.open(directory)
    assert accept_loss(directory) is not None
    assert len(await revisions(directory)) == 20


async def test_an_older_copy_of_the_database_beside_a_newer_mark_is_refused(
    directory: str, tmp_path: pathlib.Path
) -> None:
    await fill(directory)
    shutil.copy(f"{directory}/crossply.db", tmp_path / "older.db")
    store = await Store.open(directory)
    await create(store, widget("newest"))
    revision = store.revision
    await store.close()
    shutil.copy(tmp_path / "older.db", f"{directory}/crossply.db")
    with pytest.raises(WritesLost, match=f"but version {revision} was acknowledged"):
        await Store.open(directory)
    accepted = accept_loss(directory)
    assert accepted is not None
    assert accepted.revision > revision
    store = await Store.open(directory)
    assert (store.revision, store.compacted) == (accepted.revision, accepted.revision)
    assert len(store.list(WIDGETS)) == 20
    await store.close()


async def test_a_page_that_is_older_than_the_others_is_never_served(directory: str) -> None:
    """As a disk leaves it that loses a write: the rows in it are whole, but too few, or some were deleted."""
    await fill(directory)
    database = pathlib.Path(directory, "crossply.db")
    older = database.read_bytes()
    store = await Store.open(directory)
    for number in range(0, 20, 3):
        await delete(store, widget(f"w{number}"))
    await asyncio.gather(*[create(store, widget(f"n{number}"), "x" * 300) for number in range(5)])
    await store.compact()
    expected = store.list(WIDGETS)
    await store.close()
    newer = database.read_bytes()
    refused = []
    for place in range(0, min(len(older), len(newer)), PAGE_SIZE):
        end = place + PAGE_SIZE
        mixed = newer[:place] + older[place:end] + newer[end:]
        database.write_bytes(mixed)
        try:
            store = await Store.open(directory)
        except WritesLost:
            refused.append(mixed)
        except StorageDamaged:
            continue
        else:
            assert store.list(WIDGETS) == expected
            await store.close()
    database.write_bytes(newer)
    assert len(await revisions(directory)) == len(expected)
    database.write_bytes(refused[0])
    assert accept_loss(directory) is not None
    assert await revisions(directory)


async def test_a_mark_without_totals_is_accepted(directory: str) -> None:
    """Older versions write records without totals."""
    await fill(directory)
    mark = pathlib.Path(directory, "crossply.db-mark")
    records = mark.read_bytes()
    mark.write_bytes(b"".join(records[start : start + 77].ljust(4096, b"\0") for start in (0, 4096)))
    assert len(await revisions(directory)) == 20


async def test_a_mark_that_cannot_be_written_does_not_make_the_next_start_refuse(directory: str) -> None:
    await fill(directory)
    store = await Store.open(directory)
    path = f"{directory}/crossply.db-mark"
    await create(store, widget("before"))
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if os.path.exists(f"/proc/self/fd/{descriptor}") and os.path.samefile(
            f"/proc/self/fd/{descriptor}", path
        ):
            unwritable = os.open(path, os.O_RDONLY)
            os.dup2(unwritable, descriptor)
            os.close(unwritable)
    await create(store, widget("after"))
    await store.close()
    assert {"before", "after"} <= set(await revisions(directory))


async def test_a_start_without_memory_does_not_call_the_database_damaged(directory: str) -> None:
    await fill(directory)
    errors = []
    for left in range(0, 60_000, 4000):
        apsw.hard_heap_limit(max(apsw.memory_used(), 1) + left)
        try:
            await (await Store.open(directory)).close()
        except StorageError as error:
            errors.append((type(error), str(error).partition(": ")[2]))
        finally:
            apsw.hard_heap_limit(0)
    assert set(errors) == {(StorageFailed, "out of memory")}
    assert len(await revisions(directory)) == 20


async def test_a_mark_of_another_store_is_refused(directory: str, tmp_path: pathlib.Path) -> None:
    store = await Store.open(directory)
    await create(store, widget("kept"))
    await store.backup(f"{tmp_path}/backup.db")
    await store.close()
    restore(f"{tmp_path}/backup.db", f"{tmp_path}/restored")
    store = await Store.open(f"{tmp_path}/restored")
    await create(store, widget("after"))
    await store.close()
    shutil.copy(f"{tmp_path}/restored/crossply.db-mark", f"{directory}/crossply.db-mark")
    with pytest.raises(WritesLost, match="do not belong together"):
        await revisions(directory)


KILLED_IN_RESTORE = """
    import os, signal, sys
    from crossply.apiserver.storage import restore
    from tests.support.apiserver.disk_faults import FaultyFile, FaultySystem

    class DyingFile(FaultyFile):
        def xWrite(self, data, offset):
            super().xWrite(data, offset)
            if self.name.endswith(".partial"):
                os.kill(os.getpid(), signal.SIGKILL)

    class DyingSystem(FaultySystem):
        def xOpen(self, name, flags):
            return DyingFile(self, name, flags)

    system = DyingSystem()
    restore(sys.argv[1], sys.argv[2])
"""


async def test_a_killed_restore_is_not_an_empty_store(directory: str, tmp_path: pathlib.Path) -> None:
    store = await Store.open(directory)
    await create(store, widget("kept"))
    await store.backup(f"{tmp_path}/backup.db")
    await store.close()
    target = f"{tmp_path}/restored"
    program = textwrap.dedent(KILLED_IN_RESTORE)
    command = [sys.executable, "-c", program, f"{tmp_path}/backup.db", target]
    exit_code = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert exit_code.returncode == -signal.SIGKILL, exit_code.stderr
    with pytest.raises(StorageDamaged, match="a restore into it was not finished"):
        await Store.open(target)


async def test_a_backup_that_was_killed_harms_neither_the_store_nor_the_next_backup(
    directory: str, tmp_path: pathlib.Path
) -> None:
    store = await Store.open(directory)
    await create(store, widget("kept"))
    pathlib.Path(tmp_path, "backup.db.partial").write_bytes(b"what a killed backup leaves")
    await store.backup(f"{tmp_path}/backup.db")
    await store.close()
    restore(f"{tmp_path}/backup.db", f"{tmp_path}/restored")
    assert list(await revisions(f"{tmp_path}/restored")) == ["kept"]
