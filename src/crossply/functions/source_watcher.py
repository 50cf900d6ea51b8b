"""The source files of a command, to detect edits.

The files are polled, which works on every file system and is cheap for the files of one function. They are
the program of the command, and everything beside the first file that it names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from crossply.values.file_times import changed_file, read_file_times

_EVERY = 0.5
_MOST = 2000
_NOT_SOURCES = ("__pycache__", "node_modules", "site-packages", "dist", "build")


class SourceFiles:
    """The files of one command, as they were when it was started."""

    def __init__(self, words: list[str], clock: Callable[[], float]) -> None:
        self._words = words
        self._clock = clock
        self._times = read_file_times(_files_of(words))
        self._next = clock() + _EVERY

    def changed(self) -> str:
        """A file that has changed since the last check, if it is time to check and there is one."""
        if self._clock() < self._next:
            return ""
        self._next = self._clock() + _EVERY
        now = read_file_times(_files_of(self._words))
        return changed_file(self._times, now)


def _files_of(words: list[str]) -> Iterator[str]:
    if words and "/" in words[0]:
        yield words[0]
    for word in words[1:]:
        if not word.startswith("-") and os.path.exists(word):
            yield from _beside(word)
            return


def _beside(path: str) -> Iterable[str]:
    """All sources beside a file, or below a directory; the file alone, where there are too many."""
    root = path if os.path.isdir(path) else os.path.dirname(path) or "."
    neighbours: list[str] = []
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if not name.startswith(".") and name not in _NOT_SOURCES]
        neighbours += [os.path.join(directory, name) for name in files if not name.startswith(".")]
        if len(neighbours) > _MOST:
            return [path]
    return neighbours
