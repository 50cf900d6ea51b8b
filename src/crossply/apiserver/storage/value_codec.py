"""How the bytes of an object are stored: as they are, or encrypted (`encryption`).

Memory always has the plain object. A codec converts it to and from rows, so the database, its write-ahead log
and backups have the encoded form. The checksum of a row covers the stored bytes: damage is detected without a
key.
"""

from __future__ import annotations

from typing import Protocol

from crossply.apiserver.storage.entries import Key
from crossply.apiserver.storage.errors import EncryptionKeyMissing

ENCRYPTED_PREFIX = b"k8s:enc:"
"""The prefix of every encrypted value, as in Kubernetes. Objects are JSON and start with a brace."""


class ValueCodec(Protocol):
    """Converts between objects and stored values. Several threads use it."""

    def encode(self, key: Key, revision: int, data: bytes) -> bytes: ...

    def decode(self, key: Key, revision: int, stored: bytes) -> bytes:
        """The object; raises EncryptionKeyMissing, EncryptionKeyWrong or PlainValueRefused."""

    def is_current(self, key: Key, stored: bytes) -> bool:
        """Whether `encode` would store the object in the same form and with the same key."""

    def accept_store(self, is_encrypted: bool) -> bool:
        """Whether a store counts as encrypted from now on; raises EncryptionKeyMissing.

        A store that was opened with a key counts as encrypted even while it has no encrypted object: a start
        without the key must not write the next Secret in plain text.
        """


class PlainCodec:
    """Stores objects as they are, and refuses encrypted ones."""

    def encode(self, key: Key, revision: int, data: bytes) -> bytes:
        return data

    def decode(self, key: Key, revision: int, stored: bytes) -> bytes:
        if stored.startswith(ENCRYPTED_PREFIX):
            raise EncryptionKeyMissing("the stored objects are encrypted, and no encryption key is given")
        return stored

    def is_current(self, key: Key, stored: bytes) -> bool:
        return True

    def accept_store(self, is_encrypted: bool) -> bool:
        """Refuse an encrypted store."""
        if is_encrypted:
            raise EncryptionKeyMissing("the data is encrypted, and no encryption key is given")
        return False


class OpaqueCodec:
    """Passes stored bytes through, for copies of a store that need no key. What it reads is not served."""

    def encode(self, key: Key, revision: int, data: bytes) -> bytes:
        return data

    def decode(self, key: Key, revision: int, stored: bytes) -> bytes:
        return stored

    def is_current(self, key: Key, stored: bytes) -> bool:
        return True

    def accept_store(self, is_encrypted: bool) -> bool:
        return is_encrypted


PLAIN: ValueCodec = PlainCodec()
OPAQUE: ValueCodec = OpaqueCodec()
