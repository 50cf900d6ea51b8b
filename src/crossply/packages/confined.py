"""A directory that nothing gets out of: paths in it are resolved as if it were the root of the file system.

Layers of an image are written through this. Symbolic links on the way are followed as a process inside of
the directory would see them, absolute ones from its root, and `..` never leads above it. Every component is
opened by itself with O_NOFOLLOW, so the kernel follows none of them for us.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from types import TracebackType
from typing import BinaryIO, Self

from crossply.packages.failures import UnsafeEntry

_MOST_LINKS = 40
_MOST_PARTS = 256
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Confined:
    """One directory; `with Confined(path) as root`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._root = -1

    def __enter__(self) -> Self:
        self._root = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._root)

    def directory(self, parts: list[str], make: bool = False) -> int:
        """A descriptor of a directory, which the caller closes; it is made where it is missing and `make`."""
        resolved: list[str] = []
        waiting = list(reversed(parts))
        links = 0
        while waiting:
            part = waiting.pop()
            if part in ("", "."):
                continue
            if part == "..":
                resolved = resolved[:-1]
                continue
            target = self._link(resolved, part)
            if target is None:
                resolved.append(part)
                continue
            links += 1
            if links > _MOST_LINKS or len(waiting) > _MOST_PARTS:
                raise UnsafeEntry(f"too many symbolic links on the way to {'/'.join(parts)}")
            resolved = [] if target.startswith("/") else resolved
            waiting += reversed(target.split("/"))
        return self._open(resolved, make)

    def _link(self, parents: list[str], name: str) -> str | None:
        """Where a symbolic link leads; None for anything else, and for nothing."""
        try:
            parent = self._open(parents, False)
        except FileNotFoundError:
            return None
        try:
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            return os.readlink(name, dir_fd=parent) if stat.S_ISLNK(found.st_mode) else None
        except FileNotFoundError:
            return None
        finally:
            os.close(parent)

    def _open(self, parts: list[str], make: bool) -> int:
        """Open a directory step by step; the parts are plain names and no links."""
        current = os.dup(self._root)
        try:
            for part in parts:
                current = self._step(current, part, make)
        except BaseException:
            os.close(current)
            raise
        return current

    def _step(self, parent: int, name: str, make: bool) -> int:
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=parent)
        try:
            entered = os.open(name, _DIRECTORY, dir_fd=parent)
        except NotADirectoryError:
            raise UnsafeEntry(f"{name} is not a directory, but has something below it") from None
        os.close(parent)
        return entered


class Parent:
    """The directory of one entry, open: what may be done with the entry in it, by its plain name."""

    def __init__(self, root: Confined, parts: list[str], make: bool = True) -> None:
        self._fd = root.directory(parts[:-1], make)
        self._name = parts[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)

    def _mode(self) -> int | None:
        try:
            return os.stat(self._name, dir_fd=self._fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None

    def remove(self) -> None:
        """Remove the entry and all below it; links are removed, not followed."""
        mode = self._mode()
        if mode is None:
            return
        if stat.S_ISDIR(mode):
            shutil.rmtree(self._name, dir_fd=self._fd)
        else:
            os.unlink(self._name, dir_fd=self._fd)

    def make_directory(self, mode: int) -> None:
        """Make a directory, or keep the one there is."""
        present = self._mode()
        if present is None or not stat.S_ISDIR(present):
            self.remove()
            os.mkdir(self._name, 0o755, dir_fd=self._fd)
        entered = os.open(self._name, _DIRECTORY, dir_fd=self._fd)
        try:
            os.fchmod(entered, mode)
        finally:
            os.close(entered)

    def create(self, mode: int) -> BinaryIO:
        """Make a file to be written; what was there before is gone."""
        self.remove()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        created = os.open(self._name, flags, 0o600, dir_fd=self._fd)
        os.fchmod(created, mode)
        return os.fdopen(created, "wb")

    def link_to(self, target: str) -> None:
        """Make a symbolic link; where it leads is decided when it is followed, by `Confined`."""
        self.remove()
        os.symlink(target, self._name, dir_fd=self._fd)

    def hard_link_to(self, other: Parent) -> None:
        """Give a file another name."""
        present = other._mode()
        if present is None or not stat.S_ISREG(present):
            raise UnsafeEntry(f"{self._name} is a hard link to {other._name}, which is not a file")
        self.remove()
        os.link(other._name, self._name, src_dir_fd=other._fd, dst_dir_fd=self._fd, follow_symlinks=False)
