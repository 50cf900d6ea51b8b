"""The journal of runs: what a killed process had not stored yet is there after the next start."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys

import pytest

from crossply.apiserver.encryption import encryption_with_keys
from crossply.apiserver.storage import PLAIN, ValueCodec
from crossply.runs.captured_run_packing import RedactedRun, new_id
from crossply.runs.finished_run_journal import FILES, RunJournal
from crossply.runs.model import Subject
from crossply.runs.recorder import RunSettings, open_recorder
from crossply.runs.sqlite_run_store import StoredRun

KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
SUBJECT = Subject("example.org/v1", "XApp", "default", "a", "uid-a")


def run(number: int) -> RedactedRun:
    return RedactedRun(new_id(1_700_000_000 + number), SUBJECT, b'{"n": %d}' % number, b"a telling run" * 50)


def left_by_a_kill(directory, runs: list[RedactedRun], codec: ValueCodec = PLAIN) -> None:
    """The files of a process that was killed after these runs."""
    journal = RunJournal(str(directory), codec)
    for one in runs:
        journal.append_run(one)
    journal._close()


def restored(settings: RunSettings) -> list[StoredRun]:
    """What is in the store after the next start, oldest first."""
    recorder = open_recorder(settings)
    assert recorder is not None
    runs = recorder.store.list_runs(limit=100_000)
    recorder.stop()
    return runs[::-1]


RECORDING = """
import sys
from crossply.runs.recorder import RunSettings, open_recorder
from tests.runs.test_redaction import leaking_run
recorder = open_recorder(RunSettings(sys.argv[1]))
for number in range(1_000_000):
    capture = leaking_run()
    capture.xr = {**capture.xr, "metadata": {**capture.xr["metadata"], "uid": f"uid-{number}"}}
    recorder.finish(capture)
    print(number, flush=True)
"""


def test_a_kill_loses_at_most_the_run_that_was_being_written(tmp_path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", RECORDING, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(300):
        assert process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    finished = process.stdout.read().split()
    process.wait()
    process.stdout.close()
    last = int(finished[-1]) if finished else 299
    uids = {int(stored.subject.uid.removeprefix("uid-")) for stored in restored(RunSettings(str(tmp_path)))}
    assert uids >= set(range(last + 1))
    assert len(uids) <= last + 2


def test_what_is_restored_is_stored_once(tmp_path) -> None:
    settings, runs = RunSettings(str(tmp_path)), [run(number) for number in range(5)]
    left_by_a_kill(tmp_path, runs)
    assert [stored.id for stored in restored(settings)] == [one.id for one in runs]
    assert [stored.id for stored in restored(settings)] == [one.id for one in runs]


def test_a_kill_before_the_journal_was_emptied_stores_nothing_twice(tmp_path) -> None:
    settings, runs = RunSettings(str(tmp_path)), [run(number) for number in range(5)]
    left_by_a_kill(tmp_path, runs)
    content = (tmp_path / FILES[0]).read_bytes()
    restored(settings)
    (tmp_path / FILES[0]).write_bytes(content)
    recorder = open_recorder(settings)
    assert recorder is not None
    assert recorder.store.usage[0] == 5
    assert len(recorder.store.list_runs()) == 5
    recorder.stop()


@pytest.mark.parametrize("cut", [1, 7, 8, 100, 600])
def test_a_torn_end_costs_only_what_was_being_written(tmp_path, caplog, cut: int) -> None:
    runs = [run(number) for number in range(5)]
    left_by_a_kill(tmp_path, runs)
    path = tmp_path / FILES[0]
    os.truncate(path, path.stat().st_size - cut)
    assert [stored.id for stored in restored(RunSettings(str(tmp_path)))] == [one.id for one in runs[:4]]
    assert "cut off" in caplog.text


def test_any_damaged_byte_costs_only_what_is_after_it(tmp_path) -> None:
    runs = [run(number) for number in range(5)]
    ids = [one.id for one in runs]
    left_by_a_kill(tmp_path, runs)
    whole = (tmp_path / FILES[0]).read_bytes()
    for position in range(0, len(whole), 131):
        directory = tmp_path / str(position)
        directory.mkdir()
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        (directory / FILES[0]).write_bytes(damaged)
        recovered = [stored.id for stored in restored(RunSettings(str(directory)))]
        assert recovered == ids[: len(recovered)]
        assert len(recovered) < 5


def test_zeros_at_the_end_are_no_runs(tmp_path) -> None:
    left_by_a_kill(tmp_path, [run(1)])
    with (tmp_path / FILES[0]).open("ab") as file:
        file.write(bytes(5_000))
    assert len(restored(RunSettings(str(tmp_path)))) == 1


def test_the_journal_is_encrypted_where_secrets_are(tmp_path, caplog) -> None:
    encrypted = RunSettings(str(tmp_path), codec=encryption_with_keys(KEY, "a test", ["secrets"]))
    left_by_a_kill(tmp_path, [run(1)], encrypted.codec)
    assert b"telling" not in (tmp_path / FILES[0]).read_bytes()
    content = (tmp_path / FILES[0]).read_bytes()
    assert len(restored(encrypted)) == 1
    (tmp_path / FILES[0]).write_bytes(content)
    assert restored(RunSettings(str(tmp_path))) == []
    assert "is damaged" in caplog.text


def test_only_the_owner_may_read_the_journal_and_it_is_gone_after_a_stop(tmp_path) -> None:
    recorder = open_recorder(RunSettings(str(tmp_path)))
    assert recorder is not None
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in FILES} == {0o600}
    recorder.stop()
    assert not any((tmp_path / name).exists() for name in FILES)


def test_two_processes_do_not_share_a_journal(tmp_path, caplog) -> None:
    recorder = open_recorder(RunSettings(str(tmp_path)))
    other = open_recorder(RunSettings(str(tmp_path)))
    assert recorder is not None
    assert other is not None
    assert "are lost if this process is killed" in caplog.text
    other.stop()
    recorder.stop()


def test_a_full_disk_leaves_the_journal_readable(tmp_path) -> None:
    code = """
import resource, signal, sys
from tests.runs.test_journal import run
from crossply.runs.finished_run_journal import RunJournal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = RunJournal(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
refused = 0
for number in range(10):
    try:
        journal.append_run(run(number))
    except OSError:
        refused += 1
print(refused)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], check=True, capture_output=True, text=True
    )
    stored = restored(RunSettings(str(tmp_path)))
    assert 0 < len(stored) < 10
    assert int(result.stdout) == 10 - len(stored)
