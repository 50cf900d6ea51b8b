"""Packages that were fetched before, kept on disk.

What is kept is the stream of each package, compressed, in a file named by its source and digest as
Crossplane's cache names it, so a directory that one of them filled serves the other. A name has room for the
beginning of the digest only. So the comment of the gzip header holds the whole digest of the image, and that
of the stream, and both are checked on every read. A file without them is Crossplane's, and taken as it is.
"""

from __future__ import annotations

import os
import tempfile
import zlib

from crossply.xpkg.blob_content import digest_of
from crossply.xpkg.dns_names import friendly_id
from crossply.xpkg.failures import TooLarge, WrongDigest
from crossply.xpkg.image_reference import Reference
from crossply.xpkg.layer_writer import GZIP_HEADER, compressed
from crossply.xpkg.media_types import MAX_STREAM

_ENDING = ".gz"
_COMMENT = 0x10
DEFAULT_SIZE = 1 << 30


class PackageCache:
    """The streams of packages in one directory, of at most so many bytes together."""

    def __init__(self, directory: str, most: int = DEFAULT_SIZE) -> None:
        self._directory = directory
        self._most = most

    def get(self, source: Reference, digest: str) -> bytes | None:
        """The stream of a package, if it is there and intact; what is not intact is removed."""
        path = self._path(source, digest)
        try:
            with open(path, "rb") as file:
                data = file.read(MAX_STREAM)
            stream = _read(data, digest)
        except FileNotFoundError:
            return None
        except (OSError, EOFError, zlib.error, TooLarge, WrongDigest):
            self._remove(path)
            return None
        os.utime(path)
        return stream

    def put(self, source: Reference, digest: str, stream: bytes) -> None:
        """Keep the stream of a package; those that were not used for longest make room."""
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        data = _written(stream, digest)
        if len(data) > self._most:
            return
        self._make_room(len(data))
        descriptor, temporary = tempfile.mkstemp(prefix=".package-", dir=self._directory)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(temporary, self._path(source, digest))
        except BaseException:
            os.unlink(temporary)
            raise

    def _path(self, source: Reference, digest: str) -> str:
        return os.path.join(self._directory, friendly_id(source.name, digest.partition(":")[2]) + _ENDING)

    def _make_room(self, needed: int) -> None:
        entries = []
        for entry in os.scandir(self._directory):
            if entry.name.endswith(_ENDING) and entry.is_file(follow_symlinks=False):
                stat = entry.stat(follow_symlinks=False)
                entries.append((stat.st_mtime, stat.st_size, entry.path))
        total = sum(size for _, size, _ in entries) + needed
        for _, size, path in sorted(entries):
            if total <= self._most:
                return
            self._remove(path)
            total -= size

    def _remove(self, path: str) -> None:
        try:
            os.unlink(path)
        except FileNotFoundError:
            return


def _written(stream: bytes, digest: str) -> bytes:
    """The stream as one gzip member, with the digests in the header's comment."""
    plain = compressed(stream)
    header = bytearray(GZIP_HEADER)
    header[3] = _COMMENT
    return bytes(header) + _comment(stream, digest) + b"\x00" + plain[len(GZIP_HEADER) :]


def _comment(stream: bytes, digest: str) -> bytes:
    return f"{digest} {digest_of(stream)}".encode()


def _read(data: bytes, digest: str) -> bytes:
    inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)
    stream = inflate.decompress(data, MAX_STREAM + 1)
    if len(stream) > MAX_STREAM:
        raise TooLarge(f"a package of more than {MAX_STREAM} bytes is in the cache")
    if not inflate.eof:
        raise EOFError
    promised = data[len(GZIP_HEADER) :].partition(b"\x00")[0] if data[3] & _COMMENT else b""
    if promised and promised != _comment(stream, digest):
        raise WrongDigest("a package in the cache was changed, or is another one")
    return stream
