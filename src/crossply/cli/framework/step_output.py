"""Saying what a command is doing, for commands that take a while or do several things."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crossply.errors import CrossplyError


@contextmanager
def told(what: str, say: Callable[[str], int]) -> Iterator[None]:
    """Say what is being done, and how it went."""
    say(f"{what}...\n")
    try:
        yield
    except CrossplyError:
        say(f"✗ {what}\n")
        raise
    say(f"✓ {what}\n")
