"""The write-ahead log is read as SQLite reads it."""

from __future__ import annotations

import os
import random

import apsw
import pytest

from crossply.apiserver.storage.wal_file import is_restarted, read_salt, read_wal

PAGE_SIZE = 1024
FRAME = 24 + PAGE_SIZE


@pytest.fixture
def database(tmp_path: object) -> str:
    """A database with several transactions in its log, copied while it is open, as after a crash."""
    path = f"{tmp_path}/x.db"
    connection = apsw.Connection(path)
    connection.pragma("page_size", PAGE_SIZE)
    connection.pragma("journal_mode", "wal")
    connection.pragma("wal_autocheckpoint", 0)
    connection.execute("CREATE TABLE t(a)")
    for _ in range(10):
        connection.execute("INSERT INTO t VALUES(randomblob(3000))")
    copy = f"{tmp_path}/copy.db"
    for suffix in ("", "-wal"):
        with open(path + suffix, "rb") as source, open(copy + suffix, "wb") as target:
            target.write(source.read())
    connection.close()
    return copy


def frames_by_sqlite(path: str) -> int:
    """How many frames SQLite recovers, which are the frames that it moves to the database."""
    connection = apsw.Connection(path)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.pragma("schema_version")
    frames, _ = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
    connection.close()
    return max(frames, 0)


def frames(path: str) -> int:
    wal = read_wal(path)
    return wal.frames if wal else 0


def test_as_many_frames_are_counted_as_sqlite_recovers_from_a_whole_log(database: str) -> None:
    result = read_wal(f"{database}-wal")
    assert result is not None
    assert result.frames == frames_by_sqlite(database) == (os.path.getsize(f"{database}-wal") - 32) // FRAME
    assert result.salt == read_salt(f"{database}-wal")


def test_as_many_frames_are_counted_as_sqlite_recovers_from_a_damaged_log(database: str) -> None:
    with open(f"{database}-wal", "rb") as file:
        complete = file.read()
    chance = random.Random(3)
    places = [*range(32), *(chance.randrange(32, len(complete)) for _ in range(60))]
    fewer = 0
    for place in places:
        damaged = bytearray(complete)
        damaged[place] ^= 1 << chance.randrange(8)
        fewer += _compare(database, bytes(damaged), len(complete))
        fewer += _compare(database, complete[:place], len(complete))
    assert fewer > len(places), "most of these damages cost frames"


def _compare(database: str, content: bytes, size: int) -> bool:
    with open(f"{database}-wal", "wb") as file:
        file.write(content)
    count = frames(f"{database}-wal")
    assert count == frames_by_sqlite(database)
    return count < (size - 32) // FRAME


def test_a_log_that_is_missing_or_empty_holds_nothing(tmp_path: object) -> None:
    assert read_wal(f"{tmp_path}/x.db-wal") is None
    with open(f"{tmp_path}/x.db-wal", "wb"):
        pass
    assert read_wal(f"{tmp_path}/x.db-wal") is None


def test_a_log_that_sqlite_restarts_after_a_checkpoint_is_recognized(tmp_path: object) -> None:
    path = f"{tmp_path}/x.db"
    connection = apsw.Connection(path)
    connection.pragma("journal_mode", "wal")
    connection.execute("CREATE TABLE t(a)")
    salts = [read_salt(f"{path}-wal")]
    for _ in range(3):
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        connection.execute("INSERT INTO t VALUES(1)")
        salts.append(read_salt(f"{path}-wal"))
    connection.close()
    for index, salt in enumerate(salts):
        assert [is_restarted(later, since=salt) for later in salts] == [
            place > index for place in range(len(salts))
        ]
    assert is_restarted(bytes(8), since=b"\xff" * 8), "the number wraps around"
