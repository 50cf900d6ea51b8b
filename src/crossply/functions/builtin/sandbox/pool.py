"""Programs and their workers, as the rest of Crossply sees them: `ask` a program something.

A worker serves one program. Those that are idle are kept for the next question about the same program, and
give way, the longest idle one first, when another program needs the place.
"""

from __future__ import annotations

import atexit
import threading
from functools import cache
from time import monotonic

from crossply.functions.builtin.sandbox.limits import GRACE, LONGEST_PROGRAM, MOST_WORKERS, SECONDS
from crossply.functions.builtin.sandbox.processes import Broken, NurseryHandle, ProgramError, WorkerHandle

__all__ = ["Broken", "ProgramError", "ask"]


def ask(module: str, program: bytes, question: bytes) -> bytes:
    """The answer of a program in the language that a module knows; ProgramError if it gives none."""
    if len(program) > LONGEST_PROGRAM:
        raise Broken(f"is longer than {LONGEST_PROGRAM >> 20} MiB")
    return _pool(module).ask(program, question)


@cache
def _pool(module: str) -> Pool:
    pool = Pool(module)
    atexit.register(pool.close)
    return pool


class Pool:
    """The workers of one language, for any number of threads."""

    def __init__(self, module: str, most: int = MOST_WORKERS) -> None:
        self._module = module
        self._most = most
        self._change = threading.Condition()
        self._idle: list[WorkerHandle] = []
        self._places = 0
        """How many workers there are, or are about to be."""
        self._nursery: NurseryHandle | None = None

    def ask(self, program: bytes, question: bytes) -> bytes:
        """The answer of a program; ProgramError if it gives none."""
        worker = self._place(program)
        usable = False
        try:
            if worker is None:
                worker = self._born(program)
            answer = worker.ask(question)
            usable = True
            return answer
        except ProgramError as problem:
            usable = not isinstance(problem, Broken)
            raise
        finally:
            self._give_back(worker, usable)

    def close(self) -> None:
        """End every worker."""
        with self._change:
            idle, self._idle = self._idle, []
            self._places -= len(idle)
            nursery, self._nursery = self._nursery, None
        for worker in idle:
            worker.close()
        if nursery is not None:
            nursery.close()

    def _place(self, program: bytes) -> WorkerHandle | None:
        """An idle worker of the program, or None: there is a place for a new one."""
        deadline = monotonic() + SECONDS + GRACE
        with self._change:
            while True:
                for index in range(len(self._idle) - 1, -1, -1):
                    if self._idle[index].program == program:
                        return self._idle.pop(index)
                if self._places < self._most:
                    self._places += 1
                    return None
                if self._idle:
                    self._idle.pop(0).close()
                    return None
                if not self._change.wait(deadline - monotonic()):
                    raise Broken(f"waits longer than {SECONDS + GRACE:g} seconds for a process")

    def _born(self, program: bytes) -> WorkerHandle:
        with self._change:
            if self._nursery is not None and not self._nursery.alive():
                self._nursery.close()
                self._nursery = None
            if self._nursery is None:
                self._nursery = NurseryHandle(self._module)
            worker = self._nursery.start(program)
        try:
            worker.begin()
        except BaseException:
            worker.kill()
            raise
        return worker

    def _give_back(self, worker: WorkerHandle | None, usable: bool) -> None:
        if worker is not None and not usable:
            worker.kill()
        with self._change:
            if worker is not None and usable:
                self._idle.append(worker)
            else:
                self._places -= 1
            self._change.notify()
