"""The progress of pulls and pushes, and a progress bar on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TextIO


class Progress(Protocol):
    """Receives progress."""

    def expect(self, size: int) -> None:
        """So many more bytes will go over the wire."""
        ...

    def moved(self, size: int) -> None:
        """So many of them did."""
        ...


class NoProgress:
    """Ignores progress."""

    def expect(self, size: int) -> None:
        """Not told."""

    def moved(self, size: int) -> None:
        """Not told."""


_WIDTH = 30
_SECONDS = 0.1
_MEGABYTE = 1_000_000


class ProgressBar:
    """The line; `with Bar(stderr, "pushing x") as bar`. Nothing is written where there is no terminal."""

    def __init__(self, stream: TextIO, label: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._label, self._clock = stream, label, clock
        self._shown = stream.isatty()
        self._total = self._done = 0
        self._next = clock() + _SECONDS
        self._drawn = False

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def expect(self, size: int) -> None:
        """So many more bytes will go over the wire."""
        self._total += size

    def moved(self, size: int) -> None:
        """So many of them did; the line is drawn now and then."""
        self._done += size
        if self._shown and self._clock() >= self._next:
            self._next = self._clock() + _SECONDS
            self._drawn = True
            self._stream.write(f"\r\033[K{self}")
            self._stream.flush()

    def __str__(self) -> str:
        share = min(1.0, self._done / self._total) if self._total else 0.0
        filled = int(share * _WIDTH)
        bar = "━" * filled + " " * (_WIDTH - filled)
        amount = f"{self._done / _MEGABYTE:.1f}/{self._total / _MEGABYTE:.1f} MB"
        return f"{self._label} {bar} {share:4.0%} {amount}"
