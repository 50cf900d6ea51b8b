"""How the bytes of an object are stored: as they are, or encrypted (`encryption`).

Memory always holds the object itself. A codec stands between it and the rows of the database, so that the
log, the write-ahead log and backups hold what the codec makes of it. The checksum of a row is over the stored
bytes: damage is found without a key.
"""

from __future__ import annotations

from typing import Protocol

from crossply.apiserver.storage.entries import Key
from crossply.apiserver.storage.errors import EncryptionKeyMissing

ENCRYPTED_PREFIX = b"k8s:enc:"
"""How every encrypted value begins, as in Kubernetes. Objects are JSON and begin with a brace."""


class ValueCodec(Protocol):
    """Between objects and what is stored of them. It is used by several threads."""

    def encode(self, key: Key, revision: int, data: bytes) -> bytes:
        """What is stored of an object."""

    def decode(self, key: Key, revision: int, stored: bytes) -> bytes:
        """The object; raises EncryptionKeyMissing, EncryptionKeyWrong or PlainValueRefused."""

    def is_current(self, key: Key, stored: bytes) -> bool:
        """Whether `encode` would store the object in the same form and with the same key."""

    def accept_store(self, is_encrypted: bool) -> bool:
        """Whether a store counts as encrypted from now on; raises EncryptionKeyMissing.

        A store that was opened with a key counts as encrypted even while it holds no encrypted object: a
        start that forgets the key must not write the next Secret in plain text.
        """


class PlainCodec:
    """Stores objects as they are, and refuses encrypted ones."""

    def encode(self, key: Key, revision: int, data: bytes) -> bytes:
        """The object itself."""
        return data

    def decode(self, key: Key, revision: int, stored: bytes) -> bytes:
        """The object itself; raises EncryptionKeyMissing."""
        if stored.startswith(ENCRYPTED_PREFIX):
            raise EncryptionKeyMissing("the stored objects are encrypted, and no encryption key is given")
        return stored

    def is_current(self, key: Key, stored: bytes) -> bool:
        """There is one form only."""
        return True

    def accept_store(self, is_encrypted: bool) -> bool:
        """Refuse a store that is encrypted."""
        if is_encrypted:
            raise EncryptionKeyMissing("the data is encrypted, and no encryption key is given")
        return False


class OpaqueCodec:
    """Passes stored bytes through: for copies of a store that need no key. What it reads is not served."""

    def encode(self, key: Key, revision: int, data: bytes) -> bytes:
        """The stored bytes."""
        return data

    def decode(self, key: Key, revision: int, stored: bytes) -> bytes:
        """The stored bytes."""
        return stored

    def is_current(self, key: Key, stored: bytes) -> bool:
        """Nothing is ever rewritten."""
        return True

    def accept_store(self, is_encrypted: bool) -> bool:
        """The store stays what it is."""
        return is_encrypted


PLAIN: ValueCodec = PlainCodec()
OPAQUE: ValueCodec = OpaqueCodec()
