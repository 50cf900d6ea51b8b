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
from collections.abc import Iterable
from typing import BinaryIO, NamedTuple, cast

from crossply.packages.blobs import CHUNK
from crossply.packages.confined import Confined, Parent
from crossply.packages.decompression import uncompressed
from crossply.packages.failures import TooLarge, UnsafeEntry, WrongDigest
from crossply.packages.image import Image, Layer
from crossply.packages.layer_reading import LayerReader, read_plain, told_plainly

_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_PRIVILEGES = 0o7000
_LONGEST_PATH = 4096
_DEEPEST = 128


class Limits(NamedTuple):
    """How much an image may unpack to, all layers together."""

    size: int = 8 << 30
    entries: int = 500_000
    file: int = 4 << 30


class _Budget:
    """What is left of the limits."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.size, self.entries = limits.size, limits.entries

    def entry(self, count: int = 1) -> None:
        self.entries -= count
        if self.entries < 0:
            raise TooLarge(f"the image has more than {self.limits.entries} files")

    def content(self, size: int) -> None:
        self.size -= size
        if self.size < 0:
            raise TooLarge(f"the image unpacks to more than {self.limits.size} bytes")


def unpack(image: Image, directory: str, limits: Limits | None = None) -> None:
    """Unpack an image into an empty directory."""
    budget = _Budget(limits or Limits())
    with Confined(directory) as root:
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


def _unpack_layer(layer: Layer, diff_id: str, root: Confined, budget: _Budget) -> None:
    """Unpack a layer, and raise unless it is what the image's configuration says once it is uncompressed."""
    with layer.blob.open() as file, told_plainly(), uncompressed(file) as plain:
        hashed = _Hashed(plain)
        _Unpacking(root, budget).layer(cast("BinaryIO", hashed))
        hashed.finish(budget.limits.size)
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

    def finish(self, most: int) -> None:
        """Read what comes after the last entry, which is nothing but filling, but not for ever."""
        while data := self.read(CHUNK):
            most -= len(data)
            if most < 0:
                raise TooLarge("a layer has no end")

    @property
    def digest(self) -> str:
        """The digest of what was read."""
        return f"sha256:{self._hash.hexdigest()}"


class _Unpacking:
    """One layer on its way into the directory."""

    def __init__(self, root: Confined, budget: _Budget) -> None:
        self._root = root
        self._budget = budget
        self._written: set[str] = set()
        """What this layer brought and what it is in, which its own opaque directories do not hide."""

    def layer(self, plain: BinaryIO) -> None:
        limits = self._budget.limits
        with read_plain(plain, limits.size + (1 << 30), limits.entries + 1) as reader:
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
            self._write(reader, info, parts)
            self._note(parts)

    def _note(self, parts: list[str]) -> None:
        for count in range(len(parts), 0, -1):
            path = "/".join(parts[:count])
            if path in self._written:
                return
            self._written.add(path)

    def _write(self, reader: LayerReader, info: tarfile.TarInfo, parts: list[str]) -> None:
        mode = info.mode & 0o7777 & ~_PRIVILEGES
        with Parent(self._root, parts) as place:
            if info.isdir():
                # Whoever unpacks must be able to write below it and to remove it again.
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
        for name in names:
            if "/".join([*parts, name]) not in self._written:
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
