"""Reports the progress of pulls and pushes."""

from __future__ import annotations

from typing import Protocol


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
