"""A read-only file system in memory, for the calls of a confined process (see `trapped_calls`)."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
import struct
from collections.abc import Mapping

from crossply.functions.builtin.sandbox.system_call_numbers import FIRST_VIRTUAL_DESCRIPTOR

_MAX_OPEN = 256
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_ENTRY = struct.Struct("<QqHB")  # struct linux_dirent64 up to its name


class OpenFile:
    """An open file or directory, and how much of it was read."""

    __slots__ = ("content", "entries", "path", "position")

    def __init__(self, path: str, content: bytes, entries: list[tuple[str, bool]] | None) -> None:
        self.path = path
        self.content = content
        self.entries = entries
        """The names in a directory, and whether they are directories; None for a file."""
        self.position = 0


class VirtualFiles:
    """Files by absolute path. Methods answer calls as the kernel does; negative numbers are errors."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = dict(files)
        self._directories: dict[str, dict[str, bool]] = {"/": {}}
        self._open: dict[int, OpenFile] = {}
        for path in files:
            self._add_parents(path)

    def _add_parents(self, path: str) -> None:
        is_directory = False
        while path != "/":
            parent, name = posixpath.split(path)
            siblings = self._directories.setdefault(parent, {})
            if name in siblings:
                return
            siblings[name] = is_directory
            path, is_directory = parent, True

    def resolve(self, descriptor: int, path: str) -> str:
        """The absolute path that a call means."""
        start = self._open[descriptor].path if descriptor in self._open else "/"
        return posixpath.normpath(posixpath.join(start, path))

    def find(self, path: str) -> tuple[int, int] | None:
        """The mode and size of a file or directory."""
        if path in self._files:
            return stat.S_IFREG | 0o444, len(self._files[path])
        return (stat.S_IFDIR | 0o555, 0) if path in self._directories else None

    def find_open(self, descriptor: int) -> tuple[int, int] | None:
        opened = self._open.get(descriptor)
        return None if opened is None else self.find(opened.path)

    def open(self, path: str, flags: int) -> int:
        if flags & _WRITING:
            return -errno.EROFS
        if self.find(path) is None:
            return -errno.ENOENT
        is_file = path in self._files
        if flags & os.O_DIRECTORY and is_file:
            return -errno.ENOTDIR
        free = (number for number in range(_MAX_OPEN) if number + FIRST_VIRTUAL_DESCRIPTOR not in self._open)
        number = next(free, None)
        if number is None:
            return -errno.EMFILE
        entries = None if is_file else sorted(self._directories[path].items())
        self._open[number + FIRST_VIRTUAL_DESCRIPTOR] = OpenFile(path, self._files.get(path, b""), entries)
        return number + FIRST_VIRTUAL_DESCRIPTOR

    def close(self, descriptor: int) -> int:
        return -errno.EBADF if self._open.pop(descriptor, None) is None else 0

    def read(self, descriptor: int, size: int) -> bytes | int:
        opened = self._open.get(descriptor)
        if opened is None:
            return -errno.EBADF
        if opened.entries is not None:
            return -errno.EISDIR
        data = opened.content[opened.position : opened.position + size]
        opened.position += len(data)
        return data

    def seek(self, descriptor: int, offset: int, whence: int) -> int:
        opened = self._open.get(descriptor)
        if opened is None:
            return -errno.EBADF
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: opened.position, os.SEEK_END: len(opened.content)}
        if whence not in starts or starts[whence] + offset < 0:
            return -errno.EINVAL
        opened.position = starts[whence] + offset
        return opened.position

    def list(self, descriptor: int, size: int) -> bytes | int:
        """The next entries of a directory, as `getdents64` writes them."""
        opened = self._open.get(descriptor)
        if opened is None:
            return -errno.EBADF
        if opened.entries is None:
            return -errno.ENOTDIR
        listed = b""
        while opened.position < len(opened.entries):
            name, is_directory = opened.entries[opened.position]
            entry = _directory_entry(name, is_directory, opened.position + 1)
            if len(listed) + len(entry) > size:
                return listed or -errno.EINVAL
            listed += entry
            opened.position += 1
        return listed


def _directory_entry(name: str, is_directory: bool, number: int) -> bytes:
    encoded = name.encode() + b"\0"
    length = -(-(_ENTRY.size + len(encoded)) // 8) * 8
    kind = 4 if is_directory else 8
    return (_ENTRY.pack(number, number, length, kind) + encoded).ljust(length, b"\0")
