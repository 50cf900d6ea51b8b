"""A line on standard error for what takes longer than a third of a second.

    with progress(invocation, "rendering") as line:
        for number, item in enumerate(items, 1):
            line.show(f"rendering {number} of {len(items)}")
            ...
            with line.hidden():
                invocation.stdout.write(...)

The line is shown on terminals only and removed at the end. What is printed meanwhile is printed within
`hidden()`, so that it does not end up in the same line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TextIO

from crossply.cli.framework.styling import is_dumb

if TYPE_CHECKING:
    from crossply.cli.framework.command import Invocation

PATIENCE = 1 / 3
"""Seconds until the line is shown."""
_FRAME = 0.1
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ASCII_FRAMES = "|/-\\"
_CLEAR = "\r\x1b[K"
_SECONDS_SHOWN = 3


class Line:
    """Shows nothing: what is used where standard error is no terminal."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        pass

    def show(self, text: str) -> None:
        """Change the text."""

    def count(self, done: int, total: int, noun: str = "") -> None:
        """Change the text to `done of total`."""

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Remove the line while something else is printed."""
        yield


class TerminalLine(Line):
    """A turning sign, a text, and the seconds if they are many; painted by a thread of its own."""

    def __init__(self, stream: TextIO, text: str, frames: str, size: Callable[[], int]) -> None:
        import threading
        from time import monotonic

        self._clock = monotonic
        self._stream = stream
        self._text = text
        self._first_text = text
        self._frames = frames
        self._size = size
        self._stopped = threading.Event()
        self._writing = threading.RLock()
        self._painted = False
        self._thread = threading.Thread(target=self._paint_until_stopped, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._stopped.set()
        self._thread.join()
        self._clear()

    def show(self, text: str) -> None:
        self._text = text

    def count(self, done: int, total: int, noun: str = "") -> None:
        self._text = f"{self._first_text}: {done} of {total}" + (f" {noun}" if noun else "")

    @contextmanager
    def hidden(self) -> Iterator[None]:
        with self._writing:
            self._clear()
            yield

    def _paint_until_stopped(self) -> None:
        started, frame = self._clock(), 0
        pause = PATIENCE
        while not self._stopped.wait(pause):
            pause, frame = _FRAME, frame + 1
            seconds = int(self._clock() - started)
            self._paint(self._frames[frame % len(self._frames)], seconds)

    def _paint(self, sign: str, seconds: int) -> None:
        from crossply.cli.framework.failure_reports import harmless
        from crossply.cli.framework.layout import crop

        text = " ".join(harmless(self._text).split())
        elapsed = f" ({seconds} s)" if seconds >= _SECONDS_SHOWN else ""
        with self._writing:
            self._painted = True
            line = crop(f"{sign} {text}{elapsed}", self._size() - 1)
            self._stream.write(f"{_CLEAR}{line}")
            self._stream.flush()

    def _clear(self) -> None:
        if self._painted:
            self._painted = False
            self._stream.write(_CLEAR)
            self._stream.flush()


def progress(invocation: Invocation, text: str, stream: TextIO | None = None) -> Line:
    """The line of a command, for a `with` statement; on standard error unless another stream is given."""
    stream = stream or invocation.stderr
    if not stream.isatty() or is_dumb(invocation.environ):
        return Line()
    frames = _FRAMES if invocation.error_style.unicode else _ASCII_FRAMES
    return TerminalLine(stream, text, frames, terminal_width)


def terminal_width() -> int:
    """The columns of the terminal; 80 where they are unknown."""
    from shutil import get_terminal_size

    return get_terminal_size().columns
