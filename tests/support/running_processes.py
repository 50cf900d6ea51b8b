"""Processes of this machine by their command lines: pgrep is not installed everywhere."""

from __future__ import annotations

import contextlib
from pathlib import Path


def processes_with(words: str, parent: int | None = None) -> list[int]:
    """Processes whose command line has these words, in the order of their numbers; of one parent if given."""
    numbers = []
    for directory in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended by now
            command = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if words in command and parent in (None, _parent(directory)):
                numbers.append(int(directory.name))
    return sorted(numbers)


def _parent(directory: Path) -> int:
    # The name of the program is in brackets and may have any character.
    return int((directory / "stat").read_text().rpartition(")")[2].split()[1])
