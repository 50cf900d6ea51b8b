"""Responses of functions on disk, which survive a restart.

Each response is a file, `<function's revision>/<request tag>`, with its expiry time. A response may hold
secrets of its request. So files are encrypted with a key derived from the client key that functions are
called with: without it the files cannot be read, and once it is renewed all of them are void. Responses to
requests with credentials are not stored at all. A file that cannot be read counts as missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from crossply.compose.function_messages import Request, Response
from crossply.compose.wire_codec import decode_response, encode_response
from crossply.errors import CrossplyError
from crossply.record import control_plane_metrics as metrics

_NONCE = 12
_EXPIRY = 8
_COLLECTION_INTERVAL = 60.0
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}")
_TAG = re.compile(r"[0-9a-f]{64}")


class ResponseStoreSettings(NamedTuple):
    """Where responses are stored, for how long, and how many."""

    directory: str
    max_ttl: float = 86_400.0
    """Seconds that a response is stored at most, whatever its ttl says; 0 for what it says."""
    max_bytes: int = 256 << 20


class _File(NamedTuple):
    path: str
    size: int
    expires: float


class ResponseStore:
    """The responses in one directory."""

    def __init__(
        self,
        settings: ResponseStoreSettings,
        secret: Callable[[], bytes],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`secret` is a private key; it may raise a CrossplyError while there is none."""
        self._settings = settings
        self._secret = secret
        self._clock = clock
        self._cipher: tuple[bytes, AESGCM] | None = None

    def get(self, revision: str, tag: str) -> tuple[Response, float] | None:
        """A response, and in how many seconds it expires."""
        path = self._path(revision, tag)
        try:
            if path is None:
                return None
            with open(path, "rb") as file:
                data = file.read()
            expires = _expiry(data)
            if expires <= self._clock():
                return None
            nonce, encrypted = data[_EXPIRY : _EXPIRY + _NONCE], data[_EXPIRY + _NONCE :]
            associated = _associated_data(data[:_EXPIRY], revision, tag)
            content = self._encryption().decrypt(nonce, encrypted, associated)
            return decode_response(content), expires - self._clock()
        except FileNotFoundError:
            return None
        except (OSError, InvalidTag, CrossplyError, ValueError):
            metrics.CACHE_ERRORS.of(revision).value += 1
            return None

    def put(self, revision: str, tag: str, request: Request, response: Response, seconds: float) -> None:
        """Store a response; one that cannot be written is dropped."""
        path = self._path(revision, tag)
        if path is None or request.credentials:
            return
        max_ttl = self._settings.max_ttl
        expires = self._clock() + (min(seconds, max_ttl) if max_ttl > 0 else seconds)
        try:
            head = int(expires * 1e6).to_bytes(_EXPIRY, "big")
            nonce = secrets.token_bytes(_NONCE)
            content = encode_response(response._replace(tag=tag))
            associated = _associated_data(head, revision, tag)
            data = head + nonce + self._encryption().encrypt(nonce, content, associated)
            _write(path, data)
        except (OSError, CrossplyError):
            metrics.CACHE_ERRORS.of(revision).value += 1
            return
        metrics.CACHE_WRITES.of(revision).value += 1
        metrics.CACHE_BYTES_WRITTEN.of(revision).value += len(data)

    async def run(self) -> None:
        """Collect garbage every minute until cancelled."""
        while True:
            await asyncio.to_thread(self.collect)
            await asyncio.sleep(_COLLECTION_INTERVAL)

    def collect(self) -> None:
        """Remove expired responses and, beyond `max_bytes`, those that expire first."""
        room = self._settings.max_bytes
        for file in sorted(self._files(), key=lambda file: -file.expires):
            room -= file.size
            if file.expires <= self._clock() or room < 0:
                room += file.size if file.expires <= self._clock() else 0
                _remove(file)
        with contextlib.suppress(OSError):
            for entry in os.scandir(self._settings.directory):
                with contextlib.suppress(OSError):
                    os.rmdir(entry.path)

    def _files(self) -> Iterator[_File]:
        for directory, _, names in os.walk(self._settings.directory):
            for name in names:
                path = os.path.join(directory, name)
                with contextlib.suppress(OSError, ValueError), open(path, "rb") as file:
                    yield _File(path, os.fstat(file.fileno()).st_size, _expiry(file.read(_EXPIRY)))

    def _path(self, revision: str, tag: str) -> str | None:
        """The path of a response; None for invalid names."""
        if not _NAME.fullmatch(revision) or not _TAG.fullmatch(tag):
            return None
        return os.path.join(self._settings.directory, revision, tag)

    def _encryption(self) -> AESGCM:
        secret = self._secret()
        if self._cipher is None or self._cipher[0] != secret:
            key = HKDF(SHA256(), 32, None, b"crossply kept answers").derive(secret)
            self._cipher = (secret, AESGCM(key))
        return self._cipher[1]


def _associated_data(head: bytes, revision: str, tag: str) -> bytes:
    """Authenticated with the content, so that a file cannot replace another, nor its expiry be changed."""
    return head + f"{revision}/{tag}".encode()


def _expiry(data: bytes) -> float:
    if len(data) < _EXPIRY:
        raise ValueError("too short")
    return int.from_bytes(data[:_EXPIRY], "big") / 1e6


def _write(path: str, data: bytes) -> None:
    """Write a file atomically."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.{secrets.token_hex(4)}"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _remove(file: _File) -> None:
    with contextlib.suppress(OSError):
        os.unlink(file.path)
        revision = os.path.basename(os.path.dirname(file.path))
        metrics.CACHE_DELETES.of(revision).value += 1
        metrics.CACHE_BYTES_DELETED.of(revision).value += file.size
