"""How far pulls and pushes are, told to whoever wants to show it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Somebody who is told."""

    def expect(self, size: int) -> None:
        """So many more bytes will go over the wire."""
        ...

    def moved(self, size: int) -> None:
        """So many of them did."""
        ...


class NoProgress:
    """Nobody is told."""

    def expect(self, size: int) -> None:
        """Not told."""

    def moved(self, size: int) -> None:
        """Not told."""
