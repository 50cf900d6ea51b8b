"""Storing runs beside the controllers: they hand over what they captured as JSON, one thread does the rest.

Runs are taken from the queue in batches, so that the thread seldom wakes while much happens. What cannot be
encoded or written is dropped and counted. Nothing here ever fails, or waits in, a reconcile.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import getrandbits
from typing import Any, NamedTuple

import apsw
import orjson

from crossply.apiserver.storage import PLAIN, ValueCodec
from crossply.record import control_plane_metrics as metrics
from crossply.runs.capture import Capture
from crossply.runs.encoding import RunEncoder
from crossply.runs.model import Subject
from crossply.runs.record_format import RunCompressor
from crossply.runs.redaction import Redactor
from crossply.runs.store import IN_MEMORY, Limits, RunStore, StoredRun
from crossply.runs.summary import subject_of, summarize

BATCH_SECONDS = 0.25
"""So long runs are gathered before they are stored."""
_BUSY_SECONDS = 1.0
"""The same while there are many: each batch costs, however few runs are in it."""
_FEW = 4
_REPEATS_SECONDS = 5.0
_BATCH = 500
_MOST_WAITING = 5_000
"""Runs beyond this number, or beyond `_MOST_WAITING_BYTES`, are not recorded: controllers need the memory."""
_MANY_BYTES = 2 << 20
"""With more than this waiting, nothing is gathered any longer."""
_MOST_WAITING_BYTES = 64 << 20
_QUIET_SECONDS = 60.0
"""At most so often is the same trouble logged."""
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]

_RECORDED, _REPEATED, _DROPPED = (metrics.RUNS.of(word) for word in ("recorded", "repeated", "dropped"))
_ENCODING, _STORING = (metrics.RUNS_CPU.of(part) for part in ("encode", "store"))
_log = logging.getLogger("crossply.runs")


class RunSettings(NamedTuple):
    """Where and how runs are recorded."""

    directory: str = IN_MEMORY
    limits: Limits = Limits()
    codec: ValueCodec = PLAIN
    """How runs are encrypted."""


def open_recorder(settings: RunSettings | None) -> RunRecorder | None:
    """A recorder, unless none is wanted or there is no place for its file, which is logged."""
    if settings is None:
        return None
    try:
        return RunRecorder(RunStore(*settings))
    except (OSError, apsw.Error) as problem:
        _log.warning("runs are not recorded: %s", problem)
        return None


class _RunDraft(NamedTuple):
    """A run between the controllers and the thread that stores it."""

    id: str
    subject: Subject
    summary: bytes
    data: bytes
    secrets: set[bytes]
    public: set[str]


class RunRecorder:
    """Records the runs of one process."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        self._redactor = Redactor()
        self._encoder = RunEncoder(self._redactor)
        self._compressor = RunCompressor()
        self._queue: queue.SimpleQueue[_RunDraft | None] = queue.SimpleQueue()
        self._newest = store.newest()
        """The newest run of each object, by UID: what repeats are counted for."""
        self._repeats: dict[str, int] = {}
        self._lock = threading.Lock()
        self._warned = 0.0
        self._waiting_bytes = 0
        self._hurry = threading.Event()
        """Set while what waits is to be stored at once: it is too much to keep, or the process ends."""
        self._thread = threading.Thread(target=self._run, name="run-recorder", daemon=True)
        self._thread.start()

    def finish(self, capture: Capture, *, always: bool = False) -> None:
        """A run is over: store it, or count it if it changed nothing. Called on the event loop.

        Operations run to do something once: each run of one is stored.
        """
        uid = str(capture.xr.get("metadata", {}).get("uid", ""))
        newest = self._newest.get(uid)
        if newest is not None and not always and not capture.changed_anything():
            with self._lock:
                self._repeats[newest] = self._repeats.get(newest, 0) + 1
            _REPEATED.value += 1
            return
        if self._queue.qsize() >= _MOST_WAITING or self._waiting_bytes >= _MOST_WAITING_BYTES:
            _DROPPED.value += 1
            return
        # The first run of an object is stored even if it changed nothing: there is nothing else to look at.
        if not always:
            self._newest.setdefault(uid, "")
        started = time.thread_time()
        try:
            self._enqueue(self._draft(capture))
        except Exception as problem:  # noqa: BLE001 - a mistake of ours must not cost a reconcile
            _DROPPED.value += 1
            self._warn("a run cannot be recorded: %r", problem)
        _ENCODING.value += time.thread_time() - started

    def _enqueue(self, draft: _RunDraft) -> None:
        with self._lock:
            self._waiting_bytes += len(draft.data)
        self._queue.put(draft)
        if self._waiting_bytes > _MANY_BYTES:
            self._hurry.set()

    @contextmanager
    def recording(self, capture: Capture) -> Iterator[None]:
        """Record what is captured within, however it ends."""
        try:
            yield
        except BaseException as problem:
            capture.end(problem)
            raise
        else:
            capture.end()
        finally:
            self.finish(capture)

    def forget(self, uid: str) -> None:
        """The object is gone; its runs stay until others need the room."""
        self._newest.pop(uid, None)

    def stop(self) -> None:
        """Store what is waiting, and end."""
        self._queue.put(None)
        self._hurry.set()
        self._thread.join(timeout=10.0)
        self.store.close()

    def _run(self) -> None:
        is_over = False
        while not is_over:
            batch = self._next_batch()
            is_over = None in batch
            self._write([run for run in batch if run is not None])
            _STORING.value = time.thread_time()

    def _next_batch(self) -> list[_RunDraft | None]:
        """What is waiting, after a while; nothing now and then, so that repeats are stored, too."""
        try:
            batch = [self._queue.get(timeout=_REPEATS_SECONDS)]
        except queue.Empty:
            return []
        self._hurry.wait(BATCH_SECONDS)
        if self._queue.qsize() > _FEW:
            self._hurry.wait(_BUSY_SECONDS - BATCH_SECONDS)
        size = _size_of(batch[0])
        while len(batch) < _BATCH and size < _MANY_BYTES and not self._queue.empty():
            batch.append(self._queue.get())
            size += _size_of(batch[-1])
        with self._lock:
            self._waiting_bytes -= size
        if self._waiting_bytes <= _MANY_BYTES and None not in batch:
            self._hurry.clear()
        return batch

    def _write(self, batch: list[_RunDraft]) -> None:
        runs = [run for run in map(self._packed, batch) if run is not None]
        with self._lock:
            repeats, self._repeats = self._repeats, {}
        if not runs and not repeats:
            return
        try:
            self.store.append(runs, {id_: count for id_, count in repeats.items() if id_})
        except Exception as problem:  # noqa: BLE001 - whatever is wrong with the file must not end the thread
            _DROPPED.value += len(runs)
            self._warn("runs cannot be stored: %s", problem)
            return
        _RECORDED.value += len(runs)
        for run in runs:
            if run.subject.uid in self._newest:
                self._newest[run.subject.uid] = run.id

    def _packed(self, run: _RunDraft) -> StoredRun | None:
        try:
            return self._pack(run)
        except Exception as problem:  # noqa: BLE001 - a mistake of ours must not cost other runs
            _DROPPED.value += 1
            self._warn("a run cannot be recorded: %r", problem)
            return None

    def encode(self, capture: Capture) -> StoredRun:
        """A run as it is stored: without secrets, compressed."""
        return self._pack(self._draft(capture))

    def _draft(self, capture: Capture) -> _RunDraft:
        """A run as JSON, which still has secrets in it.

        This happens at once, while what was captured is in the processor's caches, and so that it is freed.
        Later it would take two or three times as long.
        """
        document = self._encoder.encode(capture)
        id_, subject = new_id(capture.started_at), subject_of(capture.xr)
        summary = orjson.dumps(summarize(capture, id_, subject))
        document.fields["summary"] = orjson.Fragment(summary)
        data = orjson.dumps(document.fields, default=_unknown)
        document.public.add(" ".join(subject))
        return _RunDraft(id_, subject, summary, data, document.secrets, document.public)

    def _pack(self, run: _RunDraft) -> StoredRun:
        data, redacted = self._redactor.redact(run.data, run.secrets, run.public)
        summary = run.summary
        if redacted:
            document = orjson.loads(data)
            document["summary"]["redacted"] = redacted
            data, summary = orjson.dumps(document), orjson.dumps(document["summary"])
        return StoredRun(run.id, run.subject, summary, self._compressor.compress(data))

    def _warn(self, message: str, problem: Exception) -> None:
        now = time.monotonic()
        if now - self._warned > _QUIET_SECONDS:
            self._warned = now
            _log.warning(message, problem)


def _size_of(draft: _RunDraft | None) -> int:
    return 0 if draft is None else len(draft.data)


def new_id(started: float) -> str:
    """The id of a run: nine digits of the millisecond that it started in, and three of chance."""
    number = int(started * 1000) << 15 | getrandbits(15)
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(50, -10, -10)])


def _unknown(value: Any) -> Any:
    """What JSON has no form for, such as the bytes of an object that a function made up."""
    return repr(type(value))
