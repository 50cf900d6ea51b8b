"""The root file system of an image, made ready for containers that cannot write to it."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator

from crossply.containers.failures import BadImage
from crossply.xpkg.confined_directory import ConfinedDirectory, Parent
from crossply.xpkg.failures import UnsafeEntry
from crossply.xpkg.layer_unpack import parts_of

_DIRECTORIES = ("proc", "dev", "etc", "tls/server")
_FILES = ("etc/hosts", "etc/resolv.conf")


def furnish(root: str, paths: Iterable[str]) -> None:
    """Make the places that something will be mounted at, and the requested directories."""
    with ConfinedDirectory(root) as image:
        try:
            for path in (*_DIRECTORIES, *(path.lstrip("/") for path in paths)):
                os.close(image.directory(parts_of(path), make=True))
            for path in _FILES:
                _touch(image, path)
            with Parent(image, ["tmp"]) as temporary:
                temporary.make_directory(0o1777)
        except (UnsafeEntry, OSError) as problem:
            raise BadImage(f"the image has no room for what a container needs: {problem}") from None


def _touch(image: ConfinedDirectory, path: str) -> None:
    *parents, name = parts_of(path)
    directory = image.directory(parents, make=True)
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if stat.S_ISREG(status.st_mode):
            return
        os.unlink(name, dir_fd=directory)  # a link, which leads nowhere in a container
    except FileNotFoundError:
        pass
    finally:
        os.close(directory)
    with Parent(image, parts_of(path)) as place:
        place.create(0o644).close()


def without_links(root: str, path: str) -> str:
    """The path of a directory of an image, once all symbolic links on the way were followed inside of it."""
    with ConfinedDirectory(root) as image:
        try:
            opened = image.directory(parts_of(path.lstrip("/")))
        except (UnsafeEntry, OSError) as problem:
            raise BadImage(f"the image cannot be started in {path}: {problem}") from None
        try:
            resolved = os.readlink(f"/proc/self/fd/{opened}")
        finally:
            os.close(opened)
    return "/" + os.path.relpath(resolved, os.path.realpath(root)).removeprefix(".")


def give_to(root: str, owner: int) -> None:
    """Change the owner of all files; nothing to do where that is this user."""
    if owner == os.geteuid():
        return
    for path in _everything(root):
        os.chown(path, owner, owner, follow_symlinks=False)


def disk_usage(root: str) -> int:
    """The bytes that it takes, each file counted once."""
    inodes: set[int] = set()
    total = 0
    for path in _everything(root):
        status = os.lstat(path)
        if status.st_ino not in inodes:
            inodes.add(status.st_ino)
            total += status.st_blocks * 512
    return total


def _everything(root: str) -> Iterator[str]:
    yield root
    waiting = [root]
    while waiting:
        with contextlib.closing(os.scandir(waiting.pop())) as entries:
            for entry in entries:
                yield entry.path
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
