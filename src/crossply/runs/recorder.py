"""Recording runs beside the controllers: a run is in the journal when its reconcile ends.

It is encoded at once, while what was captured is in the processor's caches, and so that it is freed; later it
would take two or three times as long. One thread compresses and stores runs, in batches, so that it seldom
wakes while much happens. To redact a large run would hold up all controllers: it is left to that thread,
which stores it at once. What cannot be encoded or written is dropped and counted. Nothing here ever fails, or
waits in, a reconcile.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

import apsw

from crossply.apiserver.storage import PLAIN, ValueCodec
from crossply.record import control_plane_metrics as metrics
from crossply.runs.capture import Capture
from crossply.runs.captured_run_packing import RedactedRun, RunDraft, RunPacker
from crossply.runs.finished_run_journal import RunJournal
from crossply.runs.sqlite_run_store import IN_MEMORY, Limits, RunStore, StoredRun

BATCH_SECONDS = 0.25
"""So long runs are gathered before they are stored."""
_BUSY_SECONDS = 2.0
"""The same while there are many: each batch costs, however few runs are in it. The journal has them."""
_FEW = 4
_REPEATS_SECONDS = 5.0
_BATCH = 500
_LARGE_BYTES = 256 << 10
"""A run that is larger as JSON is redacted by the thread."""
_MOST_WAITING = 5_000
"""Runs beyond this number, or beyond `_MOST_WAITING_BYTES`, are not recorded: controllers need the memory."""
_MANY_BYTES = 2 << 20
"""With more than this waiting, nothing is gathered any longer."""
_MOST_WAITING_BYTES = 64 << 20
_QUIET_SECONDS = 60.0
"""At most so often is the same trouble logged."""

_RECORDED, _REPEATED, _DROPPED = (metrics.RUNS.of(word) for word in ("recorded", "repeated", "dropped"))
_ENCODING, _STORING = (metrics.RUNS_CPU.of(part) for part in ("encode", "store"))
_NO_JOURNAL = "the journal of runs cannot be written: %s"
_log = logging.getLogger("crossply.runs")


class RunSettings(NamedTuple):
    """Where and how runs are recorded."""

    directory: str = IN_MEMORY
    limits: Limits = Limits()
    codec: ValueCodec = PLAIN
    """How runs are encrypted."""


def open_recorder(settings: RunSettings | None) -> RunRecorder | None:
    """A recorder, unless none is wanted or there is no place for its files, which is logged."""
    if settings is None:
        return None
    try:
        store = RunStore(*settings)
    except (OSError, apsw.Error) as problem:
        _log.warning("runs are not recorded: %s", problem)
        return None
    return RunRecorder(store, _open_journal(settings, store))


def _newest(store: RunStore) -> dict[str, str]:
    """The newest run of each object; none where the file is damaged, which is replaced by a new one."""
    try:
        return store.newest()
    except apsw.Error:
        return {}


def _open_journal(settings: RunSettings, store: RunStore) -> RunJournal | None:
    """The journal, once what a killed process left in it is stored; None where there cannot be one."""
    if settings.directory == IN_MEMORY:
        return None
    try:
        journal = RunJournal(settings.directory, settings.codec)
        _restore(journal, store)
    except (OSError, apsw.Error) as problem:
        _log.warning("runs that are not stored yet are lost if this process is killed: %s", problem)
        return None
    return journal


def _restore(journal: RunJournal, store: RunStore) -> None:
    """Store what the journal has."""
    packer = RunPacker()
    for content in journal.read():
        if content.runs:
            store.append(map(packer.compress, content.runs))
            _log.info("%d runs of a process that was killed are restored", len(content.runs))
        if not content.is_whole:
            _log.warning("the journal of runs was cut off or is damaged: what it has after that is lost")
    journal.clear()


class Recording:
    """A context that records one run when it ends; a class, since every reconcile enters one."""

    __slots__ = ("_capture", "_recorder")

    def __init__(self, recorder: RunRecorder, capture: Capture) -> None:
        self._recorder = recorder
        self._capture = capture

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, problem: BaseException | None, traceback: object) -> None:
        self._capture.end(problem)
        self._recorder.finish(self._capture)


class RunRecorder:
    """Records the runs of one process."""

    def __init__(self, store: RunStore, journal: RunJournal | None = None) -> None:
        self.store = store
        self._journal = journal
        self._packer = RunPacker()
        self._newest = _newest(store)
        """The newest run of each object, by UID: what repeats are counted for."""
        self._lock = threading.Lock()
        """Held for moments only; for what follows, and to append to the journal."""
        self._waiting: list[RedactedRun | RunDraft] = []
        self._waiting_bytes = 0
        self._repeats: Counter[str] = Counter()
        self._warned = 0.0
        self._arrived = threading.Event()
        """Set while a run waits."""
        self._hurry = threading.Event()
        """Set while what waits is to be stored at once: it is too much to keep, or the process ends."""
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="run-recorder", daemon=True)
        self._thread.start()

    def finish(self, capture: Capture, *, always: bool = False) -> None:
        """A run is over: record it, or count it if it changed nothing. Called on the event loop.

        Operations run to do something once: each run of one is recorded.
        """
        uid = str(capture.xr.get("metadata", {}).get("uid", ""))
        newest = self._newest.get(uid)
        if newest is not None and not always and not capture.changed_anything():
            with self._lock:
                self._repeats[newest] += 1
            _REPEATED.value += 1
            return
        if len(self._waiting) >= _MOST_WAITING or self._waiting_bytes >= _MOST_WAITING_BYTES:
            _DROPPED.value += 1
            return
        started = time.thread_time()
        try:
            id_ = self._record(capture)
            # The first run of an object is stored even if it changed nothing: nothing else can be looked at.
            if not always or newest is not None:
                self._newest[uid] = id_
        except Exception as problem:  # noqa: BLE001 - a mistake of ours must not cost a reconcile
            _DROPPED.value += 1
            self._warn("a run cannot be recorded: %r", problem)
        _ENCODING.value += time.thread_time() - started

    def _record(self, capture: Capture) -> str:
        draft = self._packer.draft(capture)
        is_large = len(draft.data) > _LARGE_BYTES
        run = draft if is_large else self._packer.redact(draft)
        with self._lock:
            if isinstance(run, RedactedRun) and self._journal is not None:
                try:
                    self._journal.append_run(run)
                except OSError as problem:
                    self._warn(_NO_JOURNAL, problem)
            self._waiting.append(run)
            self._waiting_bytes += len(run.data)
        if not self._arrived.is_set():
            self._arrived.set()
        if is_large or self._waiting_bytes > _MANY_BYTES:
            self._hurry.set()
        return draft.id

    def recording(self, capture: Capture) -> Recording:
        """Record what is captured within, however it ends."""
        return Recording(self, capture)

    def forget(self, uid: str) -> None:
        """The object is gone; its runs stay until others need the room."""
        self._newest.pop(uid, None)

    def stop(self) -> None:
        """Store what is waiting, and end."""
        self._is_over = True
        self._hurry.set()
        self._arrived.set()
        self._thread.join(timeout=10.0)
        self.store.close()
        if self._journal is not None and not self._thread.is_alive():
            with suppress(OSError):
                self._journal.close()

    def encode(self, capture: Capture) -> StoredRun:
        """A run as it is stored: without secrets, compressed."""
        return self._packer.compress(self._packer.redact(self._packer.draft(capture)))

    # What follows is done by the thread.

    def _run(self) -> None:
        is_over = False
        while not is_over:
            self._gather()
            is_over = self._is_over
            self._write(*self._take())
            _STORING.value = time.thread_time()

    def _gather(self) -> None:
        """Wait for runs, and then for some more; not for ever, so that repeats are stored, too."""
        if self._arrived.wait(_REPEATS_SECONDS):
            self._hurry.wait(BATCH_SECONDS)
            if len(self._waiting) > _FEW:
                self._hurry.wait(_BUSY_SECONDS - BATCH_SECONDS)

    def _take(self) -> tuple[list[RedactedRun | RunDraft], Counter[str]]:
        with self._lock:
            runs, self._waiting, self._waiting_bytes = self._waiting, [], 0
            repeats, self._repeats = self._repeats, Counter()
            if not self._is_over:
                self._arrived.clear()
                self._hurry.clear()
            if runs and self._journal is not None:
                self._journal.rotate()
        return runs, repeats

    def _write(self, waiting: list[RedactedRun | RunDraft], repeats: Counter[str]) -> None:
        runs = [run for run in map(self._compressed, waiting) if run is not None]
        for start in range(0, len(runs), _BATCH):
            self._store(runs[start : start + _BATCH], {})
        if repeats:
            self._store([], repeats)
        if waiting and self._journal is not None:
            try:
                self._journal.discard()
            except OSError as problem:
                self._warn(_NO_JOURNAL, problem)

    def _store(self, runs: list[StoredRun], repeats: Mapping[str, int]) -> None:
        try:
            self.store.append(runs, repeats)
        except Exception as problem:  # noqa: BLE001 - whatever is wrong with the file must not end the thread
            _DROPPED.value += len(runs)
            self._warn("runs cannot be stored: %s", problem)
        else:
            _RECORDED.value += len(runs)

    def _compressed(self, run: RedactedRun | RunDraft) -> StoredRun | None:
        try:
            redacted = self._packer.redact(run) if isinstance(run, RunDraft) else run
            return self._packer.compress(redacted)
        except Exception as problem:  # noqa: BLE001 - a mistake of ours must not cost other runs
            _DROPPED.value += 1
            self._warn("a run cannot be recorded: %r", problem)
            return None

    def _warn(self, message: str, problem: Exception) -> None:
        now = time.monotonic()
        if now - self._warned > _QUIET_SECONDS:
            self._warned = now
            _log.warning(message, problem)
