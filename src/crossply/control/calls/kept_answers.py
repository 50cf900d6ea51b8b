"""Answers of functions on disk: they survive a restart, and cost no memory.

A file for each answer, `<function's revision>/<tag>`, with when it ends and what was said. What functions say
may hold secrets that they were told. So files are sealed with a key that is made of the private key that we
call functions with: who finds the disk can read nothing, and once that key is renewed all of it is void. What
a function says that was given credentials is not kept at all. What cannot be read is not there.
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

from crossply.compose.messages import Request, Response
from crossply.compose.wire import decode_response, encode_response
from crossply.errors import CrossplyError
from crossply.record import metrics

_NONCE = 12
_DEADLINE = 8
_EVERY_SECONDS = 60.0
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}")
_TAG = re.compile(r"[0-9a-f]{64}")


class KeptSettings(NamedTuple):
    """Where answers are kept, for how long, and how many."""

    directory: str
    longest: float = 86_400.0
    """Seconds that an answer is kept at most, whatever its function says; 0 for what it says."""
    most_bytes: int = 256 << 20


class _File(NamedTuple):
    path: str
    size: int
    deadline: float


class KeptAnswers:
    """The answers in one directory."""

    def __init__(
        self, settings: KeptSettings, secret: Callable[[], bytes], clock: Callable[[], float] = time.time
    ) -> None:
        """`secret` is a private key; it may raise a CrossplyError while there is none."""
        self._settings = settings
        self._secret = secret
        self._clock = clock
        self._sealed_with: tuple[bytes, AESGCM] | None = None

    def find(self, function: str, tag: str) -> tuple[Response, float] | None:
        """The answer to a question, and for how many seconds it is still good."""
        path = self._path(function, tag)
        try:
            if path is None:
                return None
            with open(path, "rb") as file:
                data = file.read()
            until = _deadline(data)
            if until <= self._clock():
                return None
            nonce, sealed = data[_DEADLINE : _DEADLINE + _NONCE], data[_DEADLINE + _NONCE :]
            content = self._seal().decrypt(nonce, sealed, _context(data[:_DEADLINE], function, tag))
            return decode_response(content), until - self._clock()
        except FileNotFoundError:
            return None
        except (OSError, InvalidTag, CrossplyError, ValueError):
            metrics.ANSWERS_DAMAGED.of(function).value += 1
            return None

    def keep(self, function: str, tag: str, request: Request, response: Response, seconds: float) -> None:
        """Write an answer down; what cannot be written is asked for again, and that is all."""
        path = self._path(function, tag)
        if path is None or request.credentials:
            return
        longest = self._settings.longest
        until = self._clock() + (min(seconds, longest) if longest > 0 else seconds)
        try:
            head = int(until * 1e6).to_bytes(_DEADLINE, "big")
            nonce = secrets.token_bytes(_NONCE)
            content = encode_response(response._replace(tag=tag))
            data = head + nonce + self._seal().encrypt(nonce, content, _context(head, function, tag))
            _write(path, data)
        except (OSError, CrossplyError):
            metrics.ANSWERS_DAMAGED.of(function).value += 1
            return
        metrics.ANSWERS_WRITTEN.of(function).value += 1
        metrics.ANSWER_BYTES_WRITTEN.of(function).value += len(data)

    async def tend(self) -> None:
        """Remove what is over, and what is too much, every minute until cancelled."""
        while True:
            await asyncio.to_thread(self.collect)
            await asyncio.sleep(_EVERY_SECONDS)

    def collect(self) -> None:
        """Remove what is over; of what is too much, that which ends first."""
        room = self._settings.most_bytes
        for file in sorted(self._files(), key=lambda each: -each.deadline):
            room -= file.size
            if file.deadline <= self._clock() or room < 0:
                room += file.size if file.deadline <= self._clock() else 0
                _remove(file)
        with contextlib.suppress(OSError):
            for entry in os.scandir(self._settings.directory):
                with contextlib.suppress(OSError):
                    os.rmdir(entry.path)

    def _files(self) -> Iterator[_File]:
        for place, _, names in os.walk(self._settings.directory):
            for name in names:
                path = os.path.join(place, name)
                with contextlib.suppress(OSError, ValueError), open(path, "rb") as file:
                    yield _File(path, os.fstat(file.fileno()).st_size, _deadline(file.read(_DEADLINE)))

    def _path(self, function: str, tag: str) -> str | None:
        """Where an answer is; None for names that are no names."""
        if not _NAME.fullmatch(function) or not _TAG.fullmatch(tag):
            return None
        return os.path.join(self._settings.directory, function, tag)

    def _seal(self) -> AESGCM:
        secret = self._secret()
        if self._sealed_with is None or self._sealed_with[0] != secret:
            key = HKDF(SHA256(), 32, None, b"crossply kept answers").derive(secret)
            self._sealed_with = (secret, AESGCM(key))
        return self._sealed_with[1]


def _context(head: bytes, function: str, tag: str) -> bytes:
    """What a file is sealed together with: it cannot be put in another's place, nor be made to last."""
    return head + f"{function}/{tag}".encode()


def _deadline(data: bytes) -> float:
    if len(data) < _DEADLINE:
        raise ValueError("too short")
    return int.from_bytes(data[:_DEADLINE], "big") / 1e6


def _write(path: str, data: bytes) -> None:
    """Whole or not at all."""
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
        function = os.path.basename(os.path.dirname(file.path))
        metrics.ANSWERS_DELETED.of(function).value += 1
        metrics.ANSWER_BYTES_DELETED.of(function).value += file.size
