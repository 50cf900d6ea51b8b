"""A picture on a terminal that is painted again and again: only lines that changed are written.

Where the stream is no terminal, each new picture follows the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TextIO

from crossply.cli.framework.layout import wrap
from crossply.cli.framework.styling import is_dumb

_CLEAR, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[2J\x1b[H", "\x1b[K", "\x1b[J"

Size = Callable[[], tuple[int, int]]
"""The columns and rows of the terminal."""


class Screen:
    """Where pictures are painted; an equal one is not painted again."""

    def __init__(self, stream: TextIO, environ: Mapping[str, str], size: Size | None = None) -> None:
        self._stream = stream
        self._in_place = stream.isatty() and not is_dumb(environ)
        self._size = size or terminal_size
        self._picture = ""
        self._lines: list[str] = []
        self._painted_size: tuple[int, int] | None = None

    def paint(self, picture: str) -> None:
        """Show a picture instead of the one before; an empty one leaves the terminal as it is."""
        if not picture and not self._lines:
            return
        if not self._in_place:
            if picture != self._picture:
                self._stream.write(picture)
                self._stream.flush()
            self._picture = picture
            return
        changes = self._changes(picture)
        if changes:
            self._stream.write(changes)
            self._stream.flush()

    def _changes(self, picture: str) -> str:
        size = self._size()
        lines = fit(picture.splitlines(), *size)
        before, start = self._lines, ""
        if size != self._painted_size:
            before, start = [], _CLEAR
        written = [
            f"{_at(number)}{line}{_CLEAR_LINE}"
            for number, line in enumerate(lines)
            if number >= len(before) or before[number] != line
        ]
        if len(lines) < len(before):
            written.append(f"{_at(len(lines))}{_CLEAR_BELOW}")
        self._lines, self._painted_size = lines, size
        # The cursor waits below the picture: what is printed next does not overwrite it.
        return f"{start}{''.join(written)}{_at(len(lines))}" if written or start else ""


def _at(line: int) -> str:
    return f"\x1b[{line + 1};1H"


def fit(lines: list[str], columns: int, rows: int) -> list[str]:
    """The rows that fit on a terminal: long lines are wrapped, and what has no room is counted."""
    wrapped = [wrap(line, columns) for line in lines]
    used = 0
    for number, parts in enumerate(wrapped):
        used += len(parts)
        if used >= rows:
            shown = max(number - 1, 0)
            return [
                *(row for part in wrapped[:shown] for row in part),
                f"… {len(lines) - shown} more lines",
            ]
    return [row for parts in wrapped for row in parts]


def terminal_size() -> tuple[int, int]:
    """Columns and rows; 80 and 24 where they are unknown."""
    from shutil import get_terminal_size

    return get_terminal_size()
