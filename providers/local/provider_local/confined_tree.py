"""Files and directories below one root, opened name by name so that no symbolic link leads out of it.

Every name is opened relative to the descriptor of its parent, and never through a symbolic link. So a link
that somebody puts there, even while a path is being walked, is refused instead of followed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class FileRefused(Exception):
    """Something else has the name of a file or directory: a symbolic link, a device."""


class ParentMissing(Exception):
    """The directory that should hold a file is not there."""


class RegularFile(NamedTuple):
    """A file as it is."""

    content: bytes
    """At most as much as was asked for."""
    size: int
    mode: int


class ConfinedTree(NamedTuple):
    """What is below a root, which itself may be reached through symbolic links."""

    root: str

    def absolute(self, path: Sequence[str]) -> str:
        """Where a path is on this machine."""
        return os.path.join(self.root, *path)

    def directory_mode(self, path: Sequence[str]) -> int | None:
        """The permissions of a directory; None where it does not exist."""
        with contextlib.suppress(FileNotFoundError), self._opened(path) as directory:
            return stat.S_IMODE(os.fstat(directory).st_mode)
        return None

    def make_directory(self, path: Sequence[str], mode: int) -> None:
        """Create a directory whose parent exists, or change the permissions of one that is there."""
        with self._parent(path) as parent, contextlib.suppress(FileExistsError):
            os.mkdir(path[-1], 0o700, dir_fd=parent)
        with self._opened(path) as directory:
            os.fchmod(directory, mode)

    def entries(self, path: Sequence[str]) -> list[str]:
        """The names in a directory; none where it does not exist."""
        with contextlib.suppress(FileNotFoundError), self._opened(path) as directory:
            return sorted(os.listdir(directory))
        return []

    def remove_directory(self, path: Sequence[str], *, with_content: bool = False) -> None:
        """Remove a directory if it is there; raises OSError (ENOTEMPTY) where it has content."""
        with contextlib.suppress(FileNotFoundError, ParentMissing):
            if with_content:
                with self._opened(path) as directory:
                    _remove_content(directory)
            with self._parent(path) as parent:
                os.rmdir(path[-1], dir_fd=parent)

    def read(self, path: Sequence[str], limit: int) -> RegularFile | None:
        """Read at most `limit` bytes of a file; None where it does not exist."""
        with contextlib.suppress(FileNotFoundError), self.open_file(path) as file:
            state = os.fstat(file)
            with open(file, "rb", closefd=False) as reader:
                return RegularFile(reader.read(limit), state.st_size, stat.S_IMODE(state.st_mode))
        return None

    @contextlib.contextmanager
    def open_file(self, path: Sequence[str]) -> Iterator[int]:
        """Open a regular file for reading; raises FileNotFoundError and FileRefused."""
        with self._opened(path[:-1]) as parent, _no_links(self.absolute(path)):
            file = os.open(path[-1], _FILE, dir_fd=parent)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise FileRefused(f"{self.absolute(path)} is not a regular file")
            yield file
        finally:
            os.close(file)

    def write(self, path: Sequence[str], content: bytes, mode: int) -> None:
        """Replace a file, or a symbolic link in its place: readers see the old content or the new one."""
        with self._parent(path) as parent:
            unfinished = _unfinished(path[-1])
            _unlink(unfinished, parent)
            try:
                with open(os.open(unfinished, _NEW_FILE, 0o600, dir_fd=parent), "wb") as file:
                    os.fchmod(file.fileno(), mode)
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(unfinished, path[-1], src_dir_fd=parent, dst_dir_fd=parent)
            except IsADirectoryError as problem:
                raise FileRefused(f"{self.absolute(path)} is a directory") from problem
            finally:
                _unlink(unfinished, parent)

    def remove_file(self, path: Sequence[str]) -> None:
        """Remove a file, or a symbolic link in its place, if it is there."""
        with contextlib.suppress(ParentMissing), self._parent(path) as parent:
            _unlink(_unfinished(path[-1]), parent)
            try:
                _unlink(path[-1], parent)
            except (IsADirectoryError, PermissionError) as problem:  # unlink of a directory, by system
                raise FileRefused(f"{self.absolute(path)} cannot be removed: {problem.strerror}") from problem

    @contextlib.contextmanager
    def _parent(self, path: Sequence[str]) -> Iterator[int]:
        try:
            parent = self._open(path[:-1])
        except FileNotFoundError as problem:
            raise ParentMissing(f"directory {self.absolute(path[:-1])} does not exist") from problem
        try:
            yield parent
        finally:
            os.close(parent)

    @contextlib.contextmanager
    def _opened(self, path: Sequence[str]) -> Iterator[int]:
        directory = self._open(path)
        try:
            yield directory
        finally:
            os.close(directory)

    def _open(self, path: Sequence[str]) -> int:
        directory = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for position, name in enumerate(path):
            try:
                with _no_links(self.absolute(path[: position + 1])):
                    child = os.open(name, _DIRECTORY, dir_fd=directory)
            finally:
                os.close(directory)
            directory = child
        return directory


def _unfinished(name: str) -> str:
    """The name of a file while it is written. What is left of a write that was killed is found by it."""
    return f".crossply-unfinished-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _unlink(name: str, parent: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=parent)


@contextlib.contextmanager
def _no_links(path: str) -> Iterator[None]:
    """Explain the errors of opening something that is a symbolic link or no directory."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as problem:
        if os.path.islink(path):
            raise FileRefused(f"{path} is a symbolic link, which is not followed") from problem
        raise FileRefused(f"cannot open {path}: {problem.strerror}") from problem


def _remove_content(directory: int) -> None:
    """Remove everything in an open directory; links are removed, not followed."""
    with os.scandir(directory) as entries:
        listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_directory in listed:
        if not is_directory:
            os.unlink(name, dir_fd=directory)
            continue
        child = os.open(name, _DIRECTORY, dir_fd=directory)
        try:
            _remove_content(child)
        finally:
            os.close(child)
        os.rmdir(name, dir_fd=directory)
