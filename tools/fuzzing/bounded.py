"""Run inputs in a forked process that has bounds: memory for all of them, processor time for each."""

from __future__ import annotations

import ctypes
import hashlib
import json
import mmap
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from crossply.errors import CrossplyError

MEMORY = 1 << 30
"""How many bytes more than at the beginning a process may use."""
CPU_SECONDS = 20.0
"""How much processor time one input may take."""
PATIENCE = 180.0
"""Seconds after which an input that waits for something counts as hung."""

_COUNTS = struct.Struct("4q")
_M_ARENA_MAX = -8


class Target(NamedTuple):
    """Code that reads what others wrote."""

    name: str
    make: Callable[[random.Random], Any]
    run: Callable[[Any], object]


class Case(NamedTuple):
    """One input."""

    target: Target
    name: str
    make: Callable[[], Any]


class TooSlow(BaseException):
    """An input takes too long; not an Exception, so that nothing on the way catches it."""


class Counts(NamedTuple):
    """How far a process has come."""

    begun: int = 0
    refused: int = 0
    failed: int = 0
    done: int = 0


def run_cases(cases: Callable[[int], Iterator[Case]], failures: Path | None) -> Counts:
    """Run cases in one process after the other: when one dies, the next goes on behind the case that did it.

    `cases` yields those from a number on. Inputs that fail are printed, and written into a directory.
    """
    shared = mmap.mmap(-1, _COUNTS.size)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as tempfile.tempdir:  # a process leaves its files behind
        return _run_in_processes(cases, shared, failures)


def _run_in_processes(
    cases: Callable[[int], Iterator[Case]], shared: mmap.mmap, failures: Path | None
) -> Counts:
    while True:
        start = _load(shared).begun
        process = os.fork()
        if process == 0:
            _work(cases(start), shared, failures)
        status = _wait(process, shared)
        counts = _load(shared)
        if counts.done or counts.begun == start or counts.failed >= 20:
            return counts
        case = next(cases(counts.begun - 1))
        reason = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {status}"
        _report(case, f"the process ended with {reason}\n", failures)
        _store(shared, counts._replace(failed=counts.failed + 1))


def _work(cases: Iterator[Case], shared: mmap.mmap, failures: Path | None) -> None:
    try:
        _limit_memory()
        signal.signal(signal.SIGPROF, _stop)
        for case in cases:
            counts = _load(shared)
            _store(shared, counts._replace(begun=counts.begun + 1))
            outcome = _run(case, failures)
            counts = _load(shared)
            refused, failed = outcome == "refused", outcome == "failed"
            _store(shared, counts._replace(refused=counts.refused + refused, failed=counts.failed + failed))
            if counts.failed >= 20:
                break
        _store(shared, _load(shared)._replace(done=1))
    except BaseException:  # noqa: BLE001 - the process must not go on as its parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(0)


def _run(case: Case, failures: Path | None) -> str:
    case_input = case.make()
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS, CPU_SECONDS)
    try:
        case.target.run(case_input)
    except CrossplyError:
        return "refused"
    except (Exception, TooSlow):  # noqa: BLE001 - that is what we are looking for
        signal.setitimer(signal.ITIMER_PROF, 0)
        _report(case, traceback.format_exc(limit=-6), failures)
        return "failed"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "read"


def _report(case: Case, problem: str, failures: Path | None) -> None:
    print(f"FAILED {case.target.name}, case {case.name}\n{problem}", end="", flush=True)
    if failures is None:
        return
    recorded = json.dumps({"target": case.target.name, "input": case.make()}, indent=1)
    failures.mkdir(parents=True, exist_ok=True)
    path = failures / f"{case.target.name}-{hashlib.sha256(recorded.encode()).hexdigest()[:8]}.json"
    path.write_text(recorded + "\n")
    print(f"  kept in {path}", flush=True)


def _limit_memory() -> None:
    # Each thread may reserve addresses for memory of its own, which have nothing to do with what it uses.
    ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))


def _stop(signum: int, frame: object) -> None:
    raise TooSlow(f"more than {CPU_SECONDS:.0f} s of processor time")


def _wait(process: int, shared: mmap.mmap) -> int:
    """The status of the process; it is killed when it does not get on."""
    started, since = -1, time.monotonic()
    while True:
        exited, status = os.waitpid(process, os.WNOHANG)
        if exited:
            return status
        if _load(shared).begun != started:
            started, since = _load(shared).begun, time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.02)


def _load(shared: mmap.mmap) -> Counts:
    return Counts(*_COUNTS.unpack_from(shared, 0))


def _store(shared: mmap.mmap, counts: Counts) -> None:
    _COUNTS.pack_into(shared, 0, *counts)
