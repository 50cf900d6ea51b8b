"""Putting the file system of an image into a directory, layer by layer.

What a layer says is not trusted: an entry that names something outside, a device, or more than is allowed
ends the unpacking with an error. Owners are not kept and privileges (setuid, setgid) are dropped: whoever
unpacks owns all. Nothing is written outside of the directory, whatever happens.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import threading
from collections.abc import Iterable
from typing import BinaryIO, NamedTuple, cast

from crossply.xpkg.blob_content import CHUNK
from crossply.xpkg.confined_directory import ConfinedDirectory, Parent
from crossply.xpkg.decompression import uncompressed
from crossply.xpkg.failures import PackagesError, TooLarge, UnsafeEntry, WrongDigest
from crossply.xpkg.image import Image, Layer
from crossply.xpkg.layer_reader import Allowance, LayerReader, explained_archive_errors, read_plain

_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_PRIVILEGES = 0o7000
_LONGEST_PATH = 4096
_DEEPEST = 128
_BESIDE_CONTENT = 1 << 30
"""How much of the layers may be headers, padding and the content of what is not unpacked."""


class Limits(NamedTuple):
    """How much an image may unpack to, all layers together."""

    size: int = 8 << 30
    entries: int = 500_000
    file: int = 4 << 30


class UnpackingCancelled(PackagesError):
    """The unpacking of an image was cancelled."""

    code = "CP-914"


class _Budget:
    """What is left of the limits, and whether anybody still waits for the image."""

    def __init__(self, limits: Limits, cancelled: threading.Event) -> None:
        self.limits = limits
        self.size, self.entries = limits.size, limits.entries
        self.reading = Allowance(limits.size + _BESIDE_CONTENT, limits.entries + 1)
        self._cancelled = cancelled

    def entry(self, count: int = 1) -> None:
        self.check_expected()
        self.entries -= count
        if self.entries < 0:
            raise TooLarge(f"the image has more than {self.limits.entries} files")

    def check_expected(self) -> None:
        if self._cancelled.is_set():
            raise UnpackingCancelled("the unpacking was cancelled")

    def content(self, size: int) -> None:
        self.check_expected()
        self.size -= size
        if self.size < 0:
            raise TooLarge(f"the image unpacks to more than {self.limits.size} bytes")


def unpack(
    image: Image, directory: str, limits: Limits | None = None, cancelled: threading.Event | None = None
) -> None:
    """Unpack an image into an empty directory; raises UnpackingCancelled soon after the event is set."""
    budget = _Budget(limits or Limits(), cancelled or threading.Event())
    with ConfinedDirectory(directory) as root:
        try:
            for layer, diff_id in zip(image.layers, _diff_ids(image), strict=False):
                _unpack_layer(layer, diff_id, root, budget)
        except WrongDigest:
            for name in os.listdir(directory):
                with Parent(root, [name]) as place:
                    place.remove()
            raise


def _diff_ids(image: Image) -> Iterable[str]:
    known = image.diff_ids
    return known if len(known) == len(image.layers) else [""] * len(image.layers)


def _unpack_layer(layer: Layer, diff_id: str, root: ConfinedDirectory, budget: _Budget) -> None:
    """Unpack a layer, and raise unless it is what the image's configuration says once it is uncompressed."""
    with layer.blob.open() as file, explained_archive_errors(), uncompressed(file) as plain:
        hashed = _Hashed(plain)
        _Unpack(root, budget).layer(cast("BinaryIO", hashed))
        hashed.finish(budget.reading)
    if diff_id and hashed.digest != diff_id:
        raise WrongDigest(f"a layer does not have the digest {diff_id} when it is uncompressed")


class _Hashed(io.RawIOBase):
    """A layer that is hashed while it is read: to uncompress it twice would take twice as long."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._hash.update(data)
        return data

    def finish(self, allowance: Allowance) -> None:
        """Read what comes after the last entry, which is nothing but padding, up to a limit."""
        while data := self.read(CHUNK):
            allowance.spend(len(data))

    @property
    def digest(self) -> str:
        """The digest of what was read."""
        return f"sha256:{self._hash.hexdigest()}"


class _Unpack:
    """One layer on its way into the directory."""

    def __init__(self, root: ConfinedDirectory, budget: _Budget) -> None:
        self._root = root
        self._budget = budget
        self._written: dict[tuple[int, str], int] = {}
        """What this layer brought and what it is in, which its own opaque directories do not hide: the number
        of each by the number of its directory and its name. Whole paths would take far more memory."""

    def layer(self, plain: BinaryIO) -> None:
        with read_plain(plain, self._budget.reading) as reader:
            for info in reader:
                self._budget.entry()
                self._entry(reader, info)

    def _entry(self, reader: LayerReader, info: tarfile.TarInfo) -> None:
        parts = parts_of(info.name)
        if not parts:
            return
        if parts[-1] == _OPAQUE:
            self._empty(parts[:-1])
        elif parts[-1].startswith(_WHITEOUT):
            self._hide([*parts[:-1], parts[-1][len(_WHITEOUT) :]])
        else:
            self._note(parts)
            self._write(reader, info, parts)

    def _note(self, parts: list[str]) -> None:
        """Remember an entry and the directories that it is in; those are made, so they count as entries."""
        parent = 0
        for name in parts[:-1]:
            number = self._written.get((parent, name))
            if number is None:
                self._budget.entry()
                number = self._written[parent, name] = len(self._written) + 1
            parent = number
        self._written.setdefault((parent, parts[-1]), len(self._written) + 1)

    def _number(self, parts: list[str]) -> int | None:
        """The number of a directory that this layer brought something in; None where it did not."""
        number: int | None = 0
        for name in parts:
            number = self._written.get((number, name)) if number is not None else None
        return number

    def _write(self, reader: LayerReader, info: tarfile.TarInfo, parts: list[str]) -> None:
        mode = info.mode & 0o7777 & ~_PRIVILEGES
        with Parent(self._root, parts) as place:
            if info.isdir():
                # This process must be able to write below it and to remove it again.
                place.make_directory(mode | 0o700)
            elif info.isreg():
                self._file(reader, info, place, mode)
            elif info.issym():
                place.link_to(_target(info))
            elif info.islnk():
                self._hard_link(info, place)
            else:
                raise UnsafeEntry(f"{info.name} is a device, a pipe or something else that no image needs")

    def _file(self, reader: LayerReader, info: tarfile.TarInfo, place: Parent, mode: int) -> None:
        if info.size > self._budget.limits.file:
            raise TooLarge(f"{info.name} has {info.size} bytes")
        with place.create(mode | 0o400) as target, reader.content(info) as content:
            while chunk := content.read(CHUNK):
                self._budget.content(len(chunk))
                target.write(chunk)

    def _hard_link(self, info: tarfile.TarInfo, place: Parent) -> None:
        target = parts_of(info.linkname)
        if not target:
            raise UnsafeEntry(f"{info.name} is a hard link to nothing")
        try:
            with Parent(self._root, target, make=False) as other:
                place.hard_link_to(other)
        except FileNotFoundError:
            raise UnsafeEntry(f"{info.name} is a hard link to {info.linkname}, which is not there") from None

    def _hide(self, parts: list[str]) -> None:
        if parts[-1] in ("", ".", ".."):
            raise UnsafeEntry("a whiteout names no file")
        try:
            with Parent(self._root, parts, make=False) as place:
                place.remove()
        except FileNotFoundError:
            return

    def _empty(self, parts: list[str]) -> None:
        """Hide what earlier layers have in a directory."""
        try:
            opened = self._root.directory(parts)
        except FileNotFoundError:
            return
        try:
            names = os.listdir(opened)
        finally:
            os.close(opened)
        # Looking costs as much as writing: a layer could have us look at the same names again and again.
        self._budget.entry(len(names))
        number = self._number(parts)
        for name in names:
            if number is None or (number, name) not in self._written:
                self._hide([*parts, name])


def parts_of(name: str) -> list[str]:
    """The components of an entry's name, which must be a plain relative path."""
    if len(name) > _LONGEST_PATH or "\x00" in name:
        raise UnsafeEntry(f"the name {name[:80]!r}… is not one that a file can have")
    if name.startswith("/"):
        raise UnsafeEntry(f"{name} is an absolute path")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise UnsafeEntry(f"{name} leads outside of the image")
    if len(parts) > _DEEPEST or any(len(os.fsencode(part)) > 255 for part in parts):
        raise UnsafeEntry(f"the name {name[:80]!r}… is not one that a file can have")
    return parts


def _target(info: tarfile.TarInfo) -> str:
    if not info.linkname or len(info.linkname) > _LONGEST_PATH or "\x00" in info.linkname:
        raise UnsafeEntry(f"{info.name} is a symbolic link to nothing")
    return info.linkname
