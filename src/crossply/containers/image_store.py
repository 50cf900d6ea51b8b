"""Images, unpacked: each once, by its digest, for every process of this user.

An image is a directory with its configuration and its root file system, which containers only read; all
its layers are in it. Beside it is a file that is locked: by one process while the image is unpacked or
removed, by any number while it is used. That alone keeps the processes of one user out of each other's way.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import orjson

from crossply.containers.failures import ImageMissing, StoreFull
from crossply.containers.oci_spec import ROOT, volumes_of, working_directory
from crossply.containers.root_filesystem_preparation import disk_usage, furnish, give_to
from crossply.containers.user_namespace import own_identity
from crossply.values import Object
from crossply.values.digest import sha256_hex
from crossply.xpkg.image import Image
from crossply.xpkg.image_reference import Reference, check_digest
from crossply.xpkg.layer_unpack import Limits, unpack

DEFAULT_SIZE = 20 << 30
_LARGEST_IMAGE = 8 << 30
PULLS = "pull-"
"""How directories begin that layers are pulled into, beside the images."""
_STALE = 86_400.0
_CONFIG, _LOCK, _NEW, _OLD = "config.json", ".lock", ".new-", ".old-"


class StoredImage(NamedTuple):
    """An image that can be run."""

    digest: str
    directory: str
    """Of the store: the root file system is in `root` in it."""
    config: Object
    """The image's configuration."""

    @property
    def root(self) -> str:
        """Its root file system."""
        return os.path.join(self.directory, ROOT)

    @property
    def inner(self) -> Object:
        """How it is run: its entry point, environment and user."""
        inner = self.config.get("config")
        return inner if isinstance(inner, dict) else {}


class Store:
    """The images below one directory, of at most so many bytes together; those not used for longest go."""

    def __init__(self, directory: str, most: int = DEFAULT_SIZE) -> None:
        self.directory = os.path.abspath(directory)
        self._images = os.path.join(self.directory, "images")
        self._names = os.path.join(self.directory, "names")
        self._most = most

    def prepare(self) -> None:
        """Make the directories, for this user alone, without what killed processes left behind."""
        for path in (self.directory, self._images, self._names):
            os.makedirs(path, mode=0o700, exist_ok=True)
        for entry in os.scandir(self.directory):
            with contextlib.suppress(FileNotFoundError):
                if entry.name.startswith(PULLS) and time.time() - entry.stat().st_mtime > _STALE:
                    shutil.rmtree(entry.path, ignore_errors=True)

    def get(self, digest: str) -> StoredImage | None:
        """An image by its digest, if it is here."""
        directory = self._path(digest)
        try:
            with open(os.path.join(directory, _CONFIG), "rb") as file:
                saved = orjson.loads(file.read())
        except (OSError, orjson.JSONDecodeError):
            return None
        return StoredImage(digest, directory, saved["config"])

    def add(self, image: Image, digest: str, cancelled: threading.Event | None = None) -> StoredImage:
        """Unpack an image, unless it is here already; the event ends that soon."""
        self.prepare()
        directory = self._path(digest)
        with _locked(directory + _LOCK, fcntl.LOCK_EX):
            existing = self.get(digest)
            if existing is None:
                size = self._unpack(image, directory, cancelled)
            else:
                return existing
        self._make_room(size, keep=directory)
        return StoredImage(digest, directory, image.config)

    def remember(self, reference: Reference, digest: str) -> None:
        """Keep what a reference stood for."""
        self.prepare()
        path = self._name(reference)
        with open(f"{path}.{os.getpid()}", "w", encoding="ascii") as file:
            file.write(digest)
        os.replace(f"{path}.{os.getpid()}", path)

    def recall(self, reference: Reference) -> StoredImage | None:
        """The image that a reference stood for when it was last fetched, if it is here."""
        if reference.digest:
            return self.get(reference.digest)
        try:
            with open(self._name(reference), encoding="ascii") as file:
                return self.get(file.read(128))
        except OSError:
            return None

    def _name(self, reference: Reference) -> str:
        return os.path.join(self._names, sha256_hex(str(reference).encode()))

    def _path(self, digest: str) -> str:
        return os.path.join(self._images, check_digest(digest).partition(":")[2])

    def _unpack(self, image: Image, directory: str, cancelled: threading.Event | None) -> int:
        """Unpack beside, so that an image is there as a whole or not at all; its size."""
        parent, name = os.path.split(directory)
        new = os.path.join(parent, _NEW + name)
        shutil.rmtree(new, ignore_errors=True)  # of a process that was killed: we hold the lock
        root = os.path.join(new, ROOT)
        try:
            os.mkdir(new, 0o711)
            os.mkdir(root, 0o755)
            unpack(image, root, Limits(size=min(_LARGEST_IMAGE, self._most)), cancelled)
            furnish(root, [working_directory(image.inner), *volumes_of(image.inner)])
            give_to(root, own_identity().owner_outside)
            size = disk_usage(root)
            with open(os.path.join(new, _CONFIG), "wb") as file:
                file.write(orjson.dumps({"config": image.config, "size": size}))
            os.rename(new, directory)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
        return size

    def _make_room(self, added: int, keep: str) -> None:
        entries = [entry for entry in self._list() if entry[2] != keep]
        total = added + sum(size for _, size, _ in entries)
        for _, size, directory in sorted(entries):
            if total <= self._most:
                return
            if _remove_unused(directory):
                total -= size
        if total > self._most:
            _remove_unused(keep)
            raise StoreFull(f"the images in use need all of the {self._most >> 20} MiB of {self.directory}")

    def _list(self) -> Iterator[tuple[float, int, str]]:
        """When each image was last used, its size, and where it is."""
        for entry in os.scandir(self._images):
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                with contextlib.suppress(OSError, orjson.JSONDecodeError):
                    with open(os.path.join(entry.path, _CONFIG), "rb") as file:
                        size = int(orjson.loads(file.read())["size"])
                    yield os.stat(entry.path + _LOCK).st_mtime, size, entry.path


@contextlib.contextmanager
def in_use(image: StoredImage) -> Iterator[None]:
    """Keep an image from being removed."""
    with _locked(image.directory + _LOCK, fcntl.LOCK_SH) as lock:
        if not os.path.isdir(image.root):
            raise ImageMissing(f"the image {image.digest} was removed to make room", hint="fetch it again")
        os.utime(lock)
        yield


def _remove_unused(directory: str) -> bool:
    """Remove an image unless it is in use; whether it was removed."""
    old = os.path.join(os.path.dirname(directory), _OLD + os.path.basename(directory))
    try:
        with _locked(directory + _LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB):
            shutil.rmtree(old, ignore_errors=True)
            os.rename(directory, old)
            shutil.rmtree(old, ignore_errors=True)
            os.unlink(directory + _LOCK)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _locked(path: str, operation: int) -> Iterator[int]:
    """Hold a lock on a file, which is created if it is missing and may be removed by an exclusive holder."""
    while True:
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, operation)
            if not _is_at(lock, path):
                continue
            yield lock
            return
        finally:
            os.close(lock)


def _is_at(lock: int, path: str) -> bool:
    """Return whether the file that was locked is still the one with this name."""
    try:
        return os.fstat(lock).st_ino == os.stat(path).st_ino
    except FileNotFoundError:
        return False
