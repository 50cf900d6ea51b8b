"""The life of one worker: take a program, go behind the walls, answer questions about it until told no more.

A language is a module with two functions. `prepare(program)` imports what the program will need, while that
is still possible; it must not run any of it. `load(program)` runs behind the walls and gives the function
that answers questions: bytes in, bytes out. Both raise `ProgramFailed` for what its author has to know.

A reply begins with a byte that says whether it is an answer or such a complaint.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Protocol

from crossply.functions.builtin.sandbox import frames
from crossply.functions.builtin.sandbox.confinement import confine
from crossply.functions.builtin.sandbox.limits import (
    ANSWER,
    COMPLAINT,
    GRACE,
    LONGEST_MESSAGE,
    LONGEST_REPLY,
    SECONDS,
)

Answer = Callable[[bytes], bytes]


class ProgramFailed(Exception):
    """A user's program cannot be read or run; the text says why, and where."""


class OutOfTime(BaseException):
    """Raised inside a program that takes too long. Not an Exception: few programs catch this by accident."""


class Language(Protocol):
    """What a module of a language has."""

    def prepare(self, program: bytes) -> None:
        """Import what a program needs."""

    def load(self, program: bytes) -> Answer:
        """Read a program, behind the walls."""


def serve(descriptor: int, language: Language) -> None:
    """Serve one program on a descriptor until the other side closes it."""
    with contextlib.suppress(frames.Closed):
        program = frames.read(descriptor)
        language.prepare(program)
        loaded: list[Answer] = []

        def load() -> bytes:
            try:
                confine()
            except OSError as problem:
                raise ProgramFailed(f"is not run: its process cannot be confined: {problem}") from None
            loaded.append(language.load(program))
            return b""

        frames.write(descriptor, _reply(load))
        while loaded:
            question = frames.read(descriptor)
            frames.write(descriptor, _reply(partial(loaded[0], question)))


def _reply(work: Callable[[], bytes]) -> bytes:
    """What the work gives, or a complaint; it is stopped when its time is over."""
    try:
        signal.signal(signal.SIGALRM, _stop)
        signal.setitimer(signal.ITIMER_REAL, SECONDS, 2 * GRACE)
        try:
            answer = work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if len(answer) <= LONGEST_REPLY:
            return ANSWER + answer
        text = f"answer is longer than {LONGEST_REPLY >> 20} MiB"
    except ProgramFailed as problem:
        text = str(problem)
    except OutOfTime:
        text = f"takes longer than {SECONDS:g} seconds"
    except MemoryError:
        text = "runs out of memory"
    except RecursionError:
        text = "nests too deep"
    return COMPLAINT + text[:LONGEST_MESSAGE].encode("utf-8", "replace")


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop the program; if it goes on all the same, the next signal ends the process."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    raise OutOfTime


def close_all_but(descriptor: int) -> None:
    """Let go of everything that is open; what is written to standard output goes nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, 4096)
