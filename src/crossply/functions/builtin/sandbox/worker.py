"""One worker: load a program, confine the process, answer questions until the connection closes.

A language is a module with two functions. `prepare(program)` imports what the program needs while that is
still possible; it must not run any of it. `load(program)` runs confined and returns the function that
answers questions: bytes in, bytes out. Both raise `ProgramFailed` for errors that the author has to know.

The first two bytes of a reply say whether the worker can be asked again, and whether this is an answer or an
error.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import FrameType
from typing import Protocol

from crossply.functions.builtin.sandbox import frames
from crossply.functions.builtin.sandbox.confinement import confine
from crossply.functions.builtin.sandbox.limit_constants import (
    GRACE,
    MAX_MESSAGE,
    MAX_REPLY,
    RETIRE_AT,
    SECONDS,
)

Answer = Callable[[bytes], bytes]

_UNIT = 1 if sys.platform == "darwin" else 1024
"""The unit of the peak memory that the system reports."""


class ProgramFailed(Exception):
    """A user program cannot be loaded or run; the message says why and where."""


class TimeLimitExceeded(BaseException):
    """Raised inside a program that takes too long. No Exception, so that programs rarely catch it."""


class Language(Protocol):
    """The functions of a language module."""

    def prepare(self, program: bytes) -> Mapping[str, bytes] | None:
        """Import what the program needs, and return the files that it can read by path, if any."""

    def load(self, program: bytes) -> Answer:
        """Load the program in the confined process."""


def serve(descriptor: int, language: Language) -> None:
    """Serve one program on a descriptor until the peer closes it."""
    with contextlib.suppress(frames.ConnectionClosed):
        program = frames.read(descriptor)
        try:
            files = language.prepare(program)
        except Exception as error:  # noqa: BLE001 - it is reported: a process that ends says nothing
            frames.write(descriptor, frames.STAYS + _failure(_unexpected(error)))
            return
        loaded: list[Answer] = []

        def load() -> bytes:
            try:
                confine(files)
            except OSError as error:
                raise ProgramFailed(f"is not run: its process cannot be confined: {error}") from None
            loaded.append(language.load(program))
            return b""

        frames.write(descriptor, frames.STAYS + _reply(load))
        most = _peak_memory() + RETIRE_AT
        while loaded:
            question = frames.read(descriptor)
            reply = _reply(partial(loaded[0], question))
            if _peak_memory() > most:
                frames.write(descriptor, frames.RETIRES + reply)
                return
            frames.write(descriptor, frames.STAYS + reply)


def _peak_memory() -> int:
    """The most memory that this process had at once, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def _reply(work: Callable[[], bytes]) -> bytes:
    """The result of the work or an error. The work is stopped at the time limit."""
    try:
        signal.signal(signal.SIGALRM, _stop)
        signal.setitimer(signal.ITIMER_REAL, SECONDS, 2 * GRACE)
        try:
            answer = work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if len(answer) <= MAX_REPLY:
            return frames.ANSWER + answer
        text = f"answer is longer than {MAX_REPLY >> 20} MiB"
    except ProgramFailed as error:
        text = str(error)
    except TimeLimitExceeded:
        text = f"takes longer than {SECONDS:g} seconds"
    except MemoryError:
        text = "runs out of memory"
    except RecursionError:
        text = "nests too deep"
    except Exception as error:  # noqa: BLE001 - it is reported: a process that ends says nothing
        text = _unexpected(error)
    return _failure(text)


def _unexpected(error: Exception) -> str:
    return f"cannot be run: {type(error).__name__}: {error}"


def _failure(text: str) -> bytes:
    return frames.FAILURE + text[:MAX_MESSAGE].encode("utf-8", "replace")


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop the program. If it continues, the next signal ends the process."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    raise TimeLimitExceeded


def close_all_but(descriptor: int) -> None:
    """Close all other descriptors and redirect standard streams to the null device."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, 4096)
