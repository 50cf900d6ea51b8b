"""The directory a package is built from, read as one stream.

Every YAML file below it belongs to the package, in the order of their names, unless it is ignored. What is
wrong with the stream is reported with the file and position that Crossplane's reader would reach, since
users know its messages: often that is the file after the one with the mistake, which is the reported place.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.values.goglob import glob_pattern
from crossply.values.yaml import SeparatorError, is_blank
from crossply.values.yaml.limits import MAX_BYTES
from crossply.values.yaml.stream import split, with_plain_lines
from crossply.xpkg.failures import BuildFailed

_END, _BREAK = b"\n...\n", b"\n---\n"
_BUFFER = 4096
_ENDINGS = (".yaml", ".yml")


class File(NamedTuple):
    """One file of a directory."""

    path: str
    data: bytes

    @property
    def part(self) -> bytes:
        """What it is in the stream."""
        return self.data + _END + _BREAK


class Directory(NamedTuple):
    """The files of a package, or of its examples."""

    files: tuple[File, ...]

    @property
    def text(self) -> bytes:
        """All files as one stream."""
        return b"".join(file.part for file in self.files)

    def visit(self, handle: Callable[[bytes], None]) -> None:
        """Visit every document that is not blank; what goes wrong is reported with its place."""
        text = with_plain_lines(self.text)
        end = 0
        try:
            parts = list(split(text, ""))
        except SeparatorError as problem:
            raise problem.within("failed to read the package") from None
        for _, part in parts:
            end = _end_of(text, part, end)
            if is_blank(part):
                continue
            try:
                handle(part)
            except CrossplyError as problem:
                located = problem.replace(place=self._file_at(end - 1))
                raise located.within(_reached(self.files, end)) from None

    def _file_at(self, offset: int) -> str:
        for file in self.files:
            offset -= len(file.part)
            if offset < 0:
                return file.path
        return ""


def _end_of(text: bytes, part: bytes, start: int) -> int:
    """Where the separator after a part ends."""
    after = text.index(part, start) + len(part)
    newline = text.find(b"\n", after)
    return len(text) if newline < 0 else newline + 1


def read_directory(root: str, ignored: Iterable[str] = (), without: str = "", prefix: str = "") -> Directory:
    """The YAML files below a directory whose names begin with a prefix.

    Those ignored are left out, and those whose path contains `without`. A link that leads out of the root
    is refused: a package must not include other files of the user who builds it.
    """
    patterns = [_pattern(os.path.normpath(os.path.join(root, path))) for path in ignored]
    files, total = [], 0
    for path in _walk(root):
        if not path.endswith(_ENDINGS) or any(pattern.fullmatch(path) for pattern in patterns):
            continue
        if not os.path.basename(path).startswith(prefix):
            continue
        if os.lstat(path).st_size == 0 or (without and without in path):
            continue
        _check_file(root, path)
        data = _read(path)
        total += len(data)
        if total > MAX_BYTES:
            raise BuildFailed(f"the files below {root} have more than {MAX_BYTES} bytes")
        files.append(File(path, data))
    return Directory(tuple(files))


def _walk(root: str) -> Iterator[str]:
    """All files below a directory, each directory in the order of its names."""
    if not os.path.isdir(root):
        os.lstat(root)
        yield root
        return
    for name in sorted(os.listdir(root)):
        path = os.path.join(root, name)
        if os.path.isdir(path) and not os.path.islink(path):
            yield from _walk(path)
        else:
            yield path


def _check_file(root: str, path: str) -> None:
    """Raise unless a file is a regular one, and below the directory, wherever links lead."""
    base, real = os.path.realpath(root), os.path.realpath(path)
    if real != base and not real.startswith(f"{base.rstrip('/')}/"):
        raise BuildFailed(
            f"{path} is a link that leads out of {root}", hint="copy the file, or remove the link"
        )
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise BuildFailed(f"{path} is not a regular file")


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(MAX_BYTES + 1)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return glob_pattern(text)
    except ValueError as problem:
        raise BuildFailed(str(problem), hint=f"check the pattern {text}") from None


class _Reads:
    """The reads of Crossplane's reader: a file in pieces, then a marker for its end, then a separator."""

    def __init__(self, files: tuple[File, ...]) -> None:
        self._files = files
        self._index = self._position = 0
        self._at_end = False

    def read(self, room: int) -> int:
        """Read what there is room for; return how much it was."""
        if self._at_end:
            self._index, self._position, self._at_end = self._index + 1, 0, False
            return len(_BREAK)
        count = min(room, len(self._files[self._index].data) - self._position)
        self._position += count
        self._at_end = count == 0
        return count or len(_END)

    def __str__(self) -> str:
        # After the last file it is still the last file that is named.
        file = self._files[min(self._index, len(self._files) - 1)]
        return f"{{path:{file.path} position:{self._position}}}"


def _reached(files: tuple[File, ...], end: int) -> str:
    """The file and position that a reader with a buffer of 4 KiB has reached when it has read up to `end`."""
    text = b"".join(file.part for file in files)
    reads = _Reads(files)
    consumed = known = 0
    while consumed < end:
        newline = text.find(b"\n", consumed, known)
        if newline >= 0:
            consumed = newline + 1
        elif known - consumed >= _BUFFER:
            consumed = known
        else:
            known += reads.read(_BUFFER - (known - consumed))
    return str(reads)
