"""A directory that nothing gets out of: paths in it are resolved as if it were the root of the file system.

Layers of an image are written through this. Symbolic links on the way are followed as a process inside of
the directory would see them, absolute ones from its root, and `..` never leads above it. Every component is
opened by itself with O_NOFOLLOW, so the kernel follows none of them for us.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from types import TracebackType
from typing import BinaryIO, Self

from crossply.xpkg.failures import UnsafeEntry

_MOST_LINKS = 40
_MOST_PARTS = 256
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class ConfinedDirectory:
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
        walk = _Walk(self._root, make)
        try:
            waiting = list(reversed(parts))
            while waiting:
                target = walk.step(waiting.pop())
                waiting += reversed(target.split("/")) if target else ()
                if walk.links > _MOST_LINKS or len(waiting) > _MOST_PARTS:
                    raise UnsafeEntry(f"too many symbolic links on the way to {'/'.join(parts)}")
        except BaseException:
            os.close(walk.place)
            raise
        return walk.place


class _Walk:
    """A way through the directory, step by step."""

    def __init__(self, root: int, make: bool) -> None:
        self._root = root
        self._make = make
        self._entered: list[str] = []
        self.links = 0
        self.place = os.dup(root)
        """The directory that was reached."""

    def step(self, name: str) -> str:
        """Enter a directory by its plain name; where it is a link, its target is returned instead."""
        if name in ("", "."):
            return ""
        if name == "..":
            self._restart(self._entered[:-1])
            return ""
        try:
            self._enter(name)
        except OSError as problem:
            if problem.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            return self._resolve_link(name)
        return ""

    def _enter(self, name: str) -> None:
        try:
            entered = os.open(name, _DIRECTORY, dir_fd=self.place)
        except FileNotFoundError:
            if not self._make:
                raise
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=self.place)
            entered = os.open(name, _DIRECTORY, dir_fd=self.place)
        os.close(self.place)
        self.place = entered
        self._entered.append(name)

    def _resolve_link(self, name: str) -> str:
        try:
            target = os.readlink(name, dir_fd=self.place)
        except OSError:
            raise UnsafeEntry(f"{name} is not a directory, but has something below it") from None
        self.links += 1
        if target.startswith("/"):
            self._restart([])
        return target

    def _restart(self, names: list[str]) -> None:
        """Go back to the root, and from there to a directory that was entered before."""
        before, self.place = self.place, os.dup(self._root)
        os.close(before)
        self._entered = []
        for name in names:
            self._enter(name)


class Parent:
    """The directory of one entry, open: what may be done with the entry in it, by its plain name."""

    def __init__(self, root: ConfinedDirectory, parts: list[str], make: bool = True) -> None:
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
        """Make a symbolic link; where it leads is decided when it is followed, by `ConfinedDirectory`."""
        self.remove()
        os.symlink(target, self._name, dir_fd=self._fd)

    def hard_link_to(self, other: Parent) -> None:
        """Give a file another name."""
        present = other._mode()
        if present is None or not stat.S_ISREG(present):
            raise UnsafeEntry(f"{self._name} is a hard link to {other._name}, which is not a file")
        self.remove()
        os.link(other._name, self._name, src_dir_fd=other._fd, dst_dir_fd=self._fd, follow_symlinks=False)
