"""A terminal: a program on a pseudo-terminal, and the screen that it paints.

The screen understands what our programs write: text, carriage return, line feed, cursor positions, clearing
and scrolling. Anything else fails the test.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from tests.support.patience import PATIENCE

_ESCAPE = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])")


class Screen:
    """What is to be seen, without colours."""

    def __init__(self, rows: int = 24, columns: int = 80) -> None:
        self.rows, self.columns = rows, columns
        self.lines = [""]
        """With what was scrolled out above."""
        self._row = self._column = 0
        self._rest = ""

    @property
    def text(self) -> str:
        """The visible lines, without spaces at their ends."""
        return "\n".join(line.rstrip() for line in self.lines[self._top :])

    @property
    def _top(self) -> int:
        return max(len(self.lines) - self.rows, 0)

    def feed(self, text: str) -> None:
        text = self._rest + text
        self._rest = ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                match = _ESCAPE.match(text, at)
                if match is None:
                    assert len(text) - at < 16, f"unknown escape sequence {text[at : at + 16]!r}"
                    self._rest = text[at:]
                    return
                self._escape(match[1], match[2])
                at = match.end()
            else:
                self._char(text[at])
                at += 1

    def _char(self, char: str) -> None:
        if char == "\r":
            self._column = 0
        elif char == "\n":
            self._row += 1
            while self._row >= len(self.lines):
                self.lines.append("")
        elif char >= " ":
            if self._column == self.columns:
                self._char("\r")
                self._char("\n")
            line = self.lines[self._row].ljust(self._column)
            self.lines[self._row] = line[: self._column] + char + line[self._column + 1 :]
            self._column += 1

    def _escape(self, parameters: str, letter: str) -> None:
        numbers = [int(number or 0) for number in parameters.lstrip("?").split(";")]
        if letter == "H":
            self._row = self._top + max(numbers[0], 1) - 1
            self._column = max(numbers[1] if len(numbers) > 1 else 1, 1) - 1
            while self._row >= len(self.lines):
                self.lines.append("")
        elif letter == "K":
            self.lines[self._row] = self.lines[self._row][: self._column]
        elif letter == "J" and numbers[0] == 2:
            self.lines = self.lines[: self._top] + [""] * (len(self.lines) - self._top)
        elif letter == "J":
            self._escape("", "K")
            self.lines = self.lines[: self._row + 1]
        elif letter == "A":
            self._row = max(self._row - max(numbers[0], 1), self._top)
        else:
            assert letter in "mhl", f"unknown escape sequence {parameters}{letter}"


class Terminal:
    """A running program, all that it wrote, and its screen."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, screen: Screen) -> None:
        self.process = process
        self.screen = screen
        self.written = ""
        self._master = master

    def read(self, seconds: float = 0.1) -> bool:
        """Read what was written within a time; False at the end."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return False
        text = data.decode(errors="replace")
        self.written += text
        self.screen.feed(text)
        return bool(data)

    def wait_for(self, shown: str | Callable[[str], object]) -> str:
        """Wait until the screen shows something; the screen."""
        check = (lambda text: shown in text) if isinstance(shown, str) else shown
        end = time.monotonic() + PATIENCE
        while not check(self.screen.text):
            assert time.monotonic() < end, f"it was never shown; the screen is:\n{self.screen.text}"
            assert self.read() or check(self.screen.text), f"the program ended:\n{self.screen.text}"
        return self.screen.text

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def finish(self) -> int:
        """Read to the end; the exit code."""
        end = time.monotonic() + PATIENCE
        while self.read():
            assert time.monotonic() < end, f"it goes on; the screen is:\n{self.screen.text}"
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def terminal(
    command: Sequence[str],
    environ: Mapping[str, str] | None = None,
    rows: int = 24,
    columns: int = 80,
    cwd: str | os.PathLike[str] | None = None,
) -> Iterator[Terminal]:
    """Run a program on a terminal of its own; it is interrupted at the end, if it still runs."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    modes = termios.tcgetattr(slave)
    modes[3] &= ~termios.ECHO  # what the test types is not part of what the program shows
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    base = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "TERM": "xterm"}
    process = subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**base, **(environ or {})},
        cwd=cwd,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(slave)
    shown = Terminal(process, master, Screen(rows, columns))
    try:
        yield shown
    finally:
        if process.poll() is None:
            with contextlib.suppress(OSError):
                shown.type("\x03")
            with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
                shown.finish()
            if process.poll() is None:
                process.kill()
                process.wait()
        os.close(master)
