"""A pool of workers for each language. `ask` sends a question to a program and returns its answer.

A worker serves one program. Idle workers are reused for the same program; the longest idle one is closed when
another program needs its place.
"""

from __future__ import annotations

import atexit
import threading
from functools import cache
from time import monotonic

from crossply.functions.builtin.sandbox.limit_constants import GRACE, MAX_PROGRAM, MAX_WORKERS, SECONDS
from crossply.functions.builtin.sandbox.processes import (
    ProgramError,
    WorkerFailed,
    WorkerProcess,
    ZygoteProcess,
)

__all__ = ["ProgramError", "WorkerFailed", "ask"]


def ask(module: str, program: bytes, question: bytes, max_program: int = MAX_PROGRAM) -> bytes:
    """The answer of a program in the language of a module; raises ProgramError."""
    if len(program) > max_program:
        raise WorkerFailed(f"is longer than {max_program >> 20} MiB")
    return _pool(module).ask(program, question)


@cache
def _pool(module: str) -> Pool:
    pool = Pool(module)
    atexit.register(pool.close)
    return pool


class Pool:
    """The workers of one language. Thread-safe."""

    def __init__(self, module: str, max_workers: int = MAX_WORKERS) -> None:
        self._module = module
        self._most = max_workers
        self._condition = threading.Condition()
        self._idle: list[WorkerProcess] = []
        self._worker_count = 0
        """How many workers exist or are being started."""
        self._zygote: ZygoteProcess | None = None

    def ask(self, program: bytes, question: bytes) -> bytes:
        """The answer of a program; raises ProgramError."""
        worker = self._acquire(program)
        usable = False
        try:
            if worker is None:
                worker = self._start_worker(program)
            answer = worker.ask(question)
            usable = True
            return answer
        except ProgramError as error:
            usable = not isinstance(error, WorkerFailed)
            raise
        finally:
            self._release(worker, usable)

    def close(self) -> None:
        with self._condition:
            idle, self._idle = self._idle, []
            self._worker_count -= len(idle)
            zygote, self._zygote = self._zygote, None
        for worker in idle:
            worker.close()
        if zygote is not None:
            zygote.close()

    def _acquire(self, program: bytes) -> WorkerProcess | None:
        """An idle worker of the program, or None when a new one may be started."""
        deadline = monotonic() + SECONDS + GRACE
        with self._condition:
            while True:
                for index in range(len(self._idle) - 1, -1, -1):
                    if self._idle[index].program == program:
                        return self._idle.pop(index)
                if self._worker_count < self._most:
                    self._worker_count += 1
                    return None
                if self._idle:
                    self._idle.pop(0).close()
                    return None
                if not self._condition.wait(deadline - monotonic()):
                    raise WorkerFailed(f"waits longer than {SECONDS + GRACE:g} seconds for a process")

    def _start_worker(self, program: bytes) -> WorkerProcess:
        with self._condition:
            if self._zygote is not None and not self._zygote.is_alive():
                self._zygote.close()
                self._zygote = None
            if self._zygote is None:
                self._zygote = ZygoteProcess(self._module)
            worker = self._zygote.start(program)
        try:
            worker.load_program()
        except BaseException:
            worker.kill()
            raise
        return worker

    def _release(self, worker: WorkerProcess | None, usable: bool) -> None:
        if worker is not None and not usable:
            worker.kill()
        elif worker is not None and worker.has_retired:
            worker.close()
        with self._condition:
            if worker is not None and usable and not worker.has_retired:
                self._idle.append(worker)
            else:
                self._worker_count -= 1
            self._condition.notify()
