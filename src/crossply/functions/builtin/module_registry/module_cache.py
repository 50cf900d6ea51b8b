"""The cache of modules from registries: unpacked directories named by digest, and what tags stood for."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterable
from typing import NamedTuple

MAX_ARCHIVE = 64 << 20
"""The largest archive of a module, as the published function has it."""

_MAX_UNPACKED = 256 << 20
_MAX_ENTRIES = 50_000
_MAX_MODULES = 200
_TAGS = "tags"


class ResolvedTag(NamedTuple):
    """What an address stood for, and when that was looked up, in seconds since the epoch."""

    digest: str
    time: float


class ModuleCache:
    """A directory of modules. Several processes may use it at once.

    What an address stands for is remembered for each login: without one, the registry decides again.
    """

    def __init__(self, directory: str, login: tuple[str, ...] = ()) -> None:
        self._directory = directory
        self.login = login

    def get(self, digest: str) -> str | None:
        """The directory of a module, if it is there."""
        path = self._path(digest)
        try:
            os.utime(path)
        except OSError:
            return None
        return path

    def put(self, digest: str, archives: Iterable[bytes]) -> None:
        """Unpack the archives of a module; raises PackagesError for what is damaged, or too large here."""
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        self._make_room()
        temporary = tempfile.mkdtemp(prefix=".module-", dir=self._directory)
        try:
            allowance = _Allowance(_MAX_UNPACKED, _MAX_ENTRIES)
            for archive in archives:
                allowance = _unpack(archive, temporary, allowance)
            self._publish(temporary, digest)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _publish(self, temporary: str, digest: str) -> None:
        try:
            os.rename(temporary, self._path(digest))
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):  # another process was faster
                raise

    def remembered(self, address: str) -> ResolvedTag | None:
        """The digest that an address stood for last."""
        path = self._tag_path(address)
        try:
            with open(path, encoding="ascii") as file:
                return ResolvedTag(file.read(100), os.fstat(file.fileno()).st_mtime)
        except (OSError, ValueError):
            return None

    def remember(self, address: str, digest: str) -> None:
        path = self._tag_path(address)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=".tag-", dir=os.path.dirname(path))
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(digest)
        os.replace(temporary, path)

    def _path(self, digest: str) -> str:
        return os.path.join(self._directory, digest.replace(":", "-").replace("/", "-"))

    def _tag_path(self, address: str) -> str:
        key = "\0".join((address, *self.login)).encode()
        return os.path.join(self._directory, _TAGS, hashlib.sha256(key).hexdigest())

    def _make_room(self) -> None:
        """Remove the modules that were not used for longest."""
        entries = [entry for entry in os.scandir(self._directory) if entry.name.startswith("sha256-")]
        for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime)[: -_MAX_MODULES + 1]:
            shutil.rmtree(entry.path, ignore_errors=True)


class _Allowance(NamedTuple):
    """What the archives of a module may have yet, all together."""

    size: int
    """In bytes."""
    entries: int


def _unpack(archive: bytes, directory: str, allowance: _Allowance) -> _Allowance:
    """Write the regular files of an archive below a directory; links are left out. What may come after it."""
    from crossply.xpkg.disk_space import check_space
    from crossply.xpkg.failures import TooLarge
    from crossply.xpkg.layer_reader import Allowance, read_layer
    from crossply.xpkg.layer_unpack import parts_of

    size, count = 0, 0
    with read_layer(io.BytesIO(archive), Allowance(allowance.size, allowance.entries)) as entries:
        for info in entries:
            size, count = size + info.size, count + 1
            if size > allowance.size:
                # A sparse file is larger than what the archive has of it.
                raise TooLarge(f"the files of the module have more than {allowance.size} bytes")
            parts = parts_of(info.name)
            if not info.isreg() or not parts:
                continue
            check_space(directory, info.size)
            path = os.path.join(directory, *parts)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "xb") as file:
                shutil.copyfileobj(entries.content(info), file)
    return _Allowance(max(allowance.size - size, 0), max(allowance.entries - count, 0))
