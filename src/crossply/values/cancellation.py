"""Cancel long work in a thread whose result is no longer needed.

A thread cannot be stopped from outside. Work that loops over data of unknown size calls `checkpoint` now and
then; the caller passes `interruptible` a function that returns whether the work is abandoned.
"""

from __future__ import annotations

from _thread import _local  # threading takes too long to import for a command that reads a little YAML
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Interrupted(Exception):
    """The result of this work is not needed any more."""


class _Current(_local):
    is_abandoned: Callable[[], bool] | None = None


_current = _Current()


def checkpoint() -> None:
    """Raise `Interrupted` if the work of this thread is abandoned."""
    is_abandoned = _current.is_abandoned
    if is_abandoned is not None and is_abandoned():
        raise Interrupted


@contextmanager
def interruptible(is_abandoned: Callable[[], bool]) -> Iterator[None]:
    """Make `checkpoint` raise inside the block once the function returns true."""
    before, _current.is_abandoned = _current.is_abandoned, is_abandoned
    try:
        yield
    finally:
        _current.is_abandoned = before
