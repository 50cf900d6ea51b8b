"""The store of runs: bounded, persistent over restarts and kills, never blocking."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import stat
import subprocess
import sys
import time

import apsw
import pytest

from crossply.apiserver.encryption import encryption_with_keys
from crossply.runs.captured_run_packing import new_id
from crossply.runs.model import Subject
from crossply.runs.recorder import RunRecorder, RunSettings, open_recorder
from crossply.runs.sqlite_run_store import FILE, Limits, RunStore, StoredRun

KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
NEW_KEY = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="


def subject(name: str) -> Subject:
    return Subject("example.org/v1", "XApp", "default", name, f"uid-{name}")


def run(number: int, name: str = "a", size: int = 100) -> StoredRun:
    return StoredRun(new_id(1_700_000_000 + number), subject(name), b'{"n": %d}' % number, bytes(size))


def test_the_oldest_runs_of_an_object_make_room(tmp_path) -> None:
    store = RunStore(str(tmp_path), Limits(runs_per_object=3, bytes_per_object=10_000))
    runs = [run(number) for number in range(10)]
    store.append(runs)
    store.append([run(100, "b")])
    assert [stored.id for stored in store.list_runs(name="a")] == [
        stored.id for stored in reversed(runs[-3:])
    ]
    assert len(store.list_runs(name="b")) == 1
    store.append([run(11, size=4_000), run(12, size=4_000), run(13, size=4_000)])
    assert len(store.list_runs(uid="uid-a")) == 2
    store.close()


def test_a_run_larger_than_its_share_is_stored_without_its_content(tmp_path) -> None:
    store = RunStore(str(tmp_path), Limits(bytes_per_object=1_000))
    store.append([run(1), run(2, size=5_000)])
    large, small = store.list_runs()
    assert store.load(large.id)[0].data == b""
    assert store.load(small.id)[0].data != b""
    store.close()


def test_a_week_of_runs_stays_within_the_bound(tmp_path) -> None:
    limits = Limits(runs_per_object=20, bytes_per_object=64 << 10, runs=3_000, bytes=4 << 20)
    store = RunStore(str(tmp_path), limits)
    numbers = random.Random(7)
    for hour in range(7 * 24):
        batch = [
            run(hour * 3600 + minute, f"app-{numbers.randrange(200)}", numbers.randrange(500, 6_000))
            for minute in range(60)
        ]
        store.append(batch, {batch[0].id: 3})
        runs, size = store.usage
        assert runs <= limits.runs
        assert size <= limits.bytes
    files = sum(os.path.getsize(tmp_path / name) for name in os.listdir(tmp_path))
    assert files < 3 * limits.bytes
    counted = store.usage
    store.close()
    reopened = RunStore(str(tmp_path), limits)
    assert reopened.usage == counted
    reopened.close()


def test_only_the_owner_may_read_the_files(tmp_path) -> None:
    store = RunStore(str(tmp_path / "runs"))
    store.append([run(1)])
    modes = {
        stat.S_IMODE(os.stat(tmp_path / "runs" / name).st_mode) for name in os.listdir(tmp_path / "runs")
    }
    assert modes == {0o600}
    store.close()


WRITER = """
import sys
from crossply.runs.model import Subject
from crossply.runs.captured_run_packing import new_id
from crossply.runs.sqlite_run_store import RunStore, StoredRun
store = RunStore(sys.argv[1])
for number in range(1_000_000):
    subject = Subject("example.org/v1", "XApp", "default", "a", f"uid-{number % 500}")
    run = StoredRun(new_id(1_700_000_000 + number), subject, b"%d" % number, bytes(2_000))
    store.append([run])
    print(number, flush=True)
"""


def test_a_kill_loses_at_most_the_run_being_written(tmp_path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    for _ in range(200):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    written = writer.stdout.read().split()
    writer.wait()
    writer.stdout.close()
    last = int(written[-1]) if written else 199
    store = RunStore(str(tmp_path))
    numbers = sorted(int(stored.summary) for stored in store.list_runs(limit=100_000))
    store.close()
    assert numbers[: last + 1] == list(range(last + 1))
    assert len(numbers) <= last + 2


@pytest.mark.parametrize("damage", ["garbage", "middle"])
def test_a_damaged_store_is_set_aside(tmp_path, caplog, damage: str) -> None:
    store = RunStore(str(tmp_path))
    store.append([run(number, f"app-{number}", 3_000) for number in range(50)])
    store.close()
    path = tmp_path / FILE
    content = bytearray(path.read_bytes())
    if damage == "garbage":
        content = bytearray(b"this is no database" * 1_000)
    else:
        content[4096:] = bytes(len(content) - 4096)
    path.write_bytes(content)
    recorder = open_recorder(RunSettings(str(tmp_path)))
    assert recorder is not None
    recorder.store.append([run(100)])
    assert len(recorder.store.list_runs()) == 1
    recorder.stop()
    assert "they are set aside as" in caplog.text
    assert any(name.startswith(f"{FILE}.unreadable-") for name in os.listdir(tmp_path))


VALUES = {
    "a text that is not UTF-8": "UPDATE runs SET name = CAST(x'ff61' AS TEXT)",
    "an object that is not UTF-8": "UPDATE runs SET uid = CAST(x'ff61' AS TEXT)",
    "a text where bytes belong": "UPDATE runs SET summary = 'text'",
    "a number where a text belongs": "UPDATE runs SET kind = x'00'",
    "sizes beyond all numbers": "UPDATE runs SET bytes = 9223372036854775807",
    "a size that is none": "UPDATE runs SET bytes = 'many'",
    "another table": "ALTER TABLE runs RENAME COLUMN repeats TO other",
}


@pytest.mark.parametrize("name", VALUES)
def test_values_that_nobody_stored_stop_nothing(tmp_path, name: str) -> None:
    store = RunStore(str(tmp_path))
    store.append([run(number) for number in range(30)])
    store.close()
    connection = apsw.Connection(str(tmp_path / FILE))
    connection.execute(VALUES[name])
    connection.close()
    recorder = open_recorder(RunSettings(str(tmp_path), Limits(runs_per_object=20)))
    assert recorder is not None
    with contextlib.suppress(apsw.CorruptError):
        recorder.store.list_runs()
    recorder.store.append([run(100 + number) for number in range(30)])
    assert run(129).summary in [stored.summary for stored in recorder.store.list_runs()]
    recorder.stop()


def test_an_index_without_the_runs_of_an_object_is_no_endless_search(tmp_path) -> None:
    store = RunStore(str(tmp_path), Limits(runs_per_object=5))
    store.append([run(number) for number in range(5)])
    other = apsw.Connection(str(tmp_path / FILE))
    other.execute("DELETE FROM runs")
    other.close()
    for number in range(5, 15):
        with contextlib.suppress(apsw.CorruptError):
            store.append([run(number)])
    assert store.list_runs(limit=1)[0].summary == run(14).summary
    store.close()


def test_a_store_that_cannot_be_opened_stops_nothing(tmp_path, caplog) -> None:
    (tmp_path / "file").write_text("")
    assert open_recorder(RunSettings(str(tmp_path / "file" / "runs"))) is None
    assert "runs are not recorded" in caplog.text


def test_a_full_disk_costs_only_the_runs_that_do_not_fit(tmp_path) -> None:
    store = RunStore(str(tmp_path))
    store.append([run(1)])
    pages = store._connection.execute("PRAGMA page_count").fetchall()[0][0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(apsw.FullError):
        store.append([run(2, size=1_000_000)])
    assert store.usage[0] == 1
    store._connection.execute("PRAGMA max_page_count = 1000000")
    store.append([run(3)])
    assert len(store.list_runs()) == 2
    store.close()


def test_runs_are_encrypted_where_secrets_are(tmp_path) -> None:
    codec = encryption_with_keys(KEY, "a test", ["secrets"])
    store = RunStore(str(tmp_path), codec=codec)
    store.append([StoredRun(new_id(1.0), subject("a"), b"a telling summary", b"and its content")])
    assert store.load("")[0].summary == b"a telling summary"
    files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    store.close()
    assert b"telling" not in files
    assert b"content" not in files
    # Without the key they are of no use: they are set aside, and recording goes on.
    plain = RunStore(str(tmp_path))
    assert plain.list_runs() == []
    plain.close()


def test_a_key_that_was_removed_hides_its_own_runs_only(tmp_path) -> None:
    old = RunStore(str(tmp_path), codec=encryption_with_keys(KEY, "a test", ["secrets"]))
    before = run(1)
    old.append([before])
    old.close()
    both = encryption_with_keys(f"{NEW_KEY}\n{KEY}", "a test", ["secrets"])
    rotating = RunStore(str(tmp_path), codec=both)
    after = run(2)
    rotating.append([after])
    assert [run.id for run in rotating.list_runs()] == [after.id, before.id]
    rotating.close()
    store = RunStore(str(tmp_path), codec=encryption_with_keys(NEW_KEY, "a test", ["secrets"]))
    assert [run.id for run in store.list_runs()] == [after.id]
    assert store.load(before.id) == []
    store.close()


def test_runs_are_loaded_after_a_restart_and_repeats_go_on(tmp_path) -> None:
    store = RunStore(str(tmp_path))
    first = run(1)
    store.append([first], {})
    store.append([], {first.id: 2})
    store.close()
    recorder = RunRecorder(RunStore(str(tmp_path)))
    assert recorder.store.newest() == {"uid-a": first.id}
    assert recorder.store.list_runs()[0].repeats == 2
    recorder.stop()


def test_ids_sort_by_time() -> None:
    now = time.time()
    ids = [new_id(now + step / 500) for step in range(100)]
    assert ids == sorted(ids)
    assert {len(id_) for id_ in ids} == {12}
