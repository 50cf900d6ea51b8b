"""Encryption of stored objects by AES-GCM, with ordered keys as in Kubernetes' EncryptionConfiguration.

A stored value is `k8s:enc:aesgcm:v1:<key name>:`, a random nonce of 96 bits, and the ciphertext with its tag.
The resource, namespace, name and revision of the object are authenticated with it: a value that is moved to
another row, or to another revision of the same object, cannot be decrypted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from crossply.apiserver.storage.entries import Key
from crossply.apiserver.storage.errors import EncryptionKeyMissing, EncryptionKeyWrong, PlainValueRefused
from crossply.apiserver.storage.value_codec import ENCRYPTED_PREFIX

_AESGCM_PREFIX = ENCRYPTED_PREFIX + b"aesgcm:v1:"
_NONCE_BYTES = 12


class EncryptionKey:
    """A key and its name. Its repr shows the name only."""

    __slots__ = ("_cipher", "name", "prefix")

    def __init__(self, name: str, secret: bytes) -> None:
        """Raises ValueError unless the secret has 16, 24 or 32 bytes."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._cipher = AESGCM(secret)
        self.name = name
        self.prefix = _AESGCM_PREFIX + name.encode() + b":"

    def __repr__(self) -> str:
        return f"EncryptionKey({self.name!r})"

    def encrypt(self, data: bytes, context: bytes) -> bytes:
        """The prefix, a unique nonce, and the ciphertext."""
        nonce = os.urandom(_NONCE_BYTES)
        return b"".join((self.prefix, nonce, self._cipher.encrypt(nonce, data, context)))

    def decrypt(self, stored: bytes, context: bytes) -> bytes:
        """Decrypt a value; raises InvalidTag."""
        start = len(self.prefix)
        nonce, sealed = stored[start : start + _NONCE_BYTES], stored[start + _NONCE_BYTES :]
        return self._cipher.decrypt(nonce, sealed, context)


class Providers(NamedTuple):
    """The keys of some resources."""

    keys: tuple[EncryptionKey, ...]
    """All keys that decrypt."""
    first: EncryptionKey | None
    """The key that encrypts; None to write plain text."""
    reads_plain: bool
    """Whether objects may be stored in plain text."""


PLAIN_TEXT = Providers((), None, reads_plain=True)


class ResourceGroup(NamedTuple):
    """Resource patterns and their providers."""

    patterns: tuple[str, ...]
    """`secrets`, `deployments.apps`, `*.apps`, `*.` (the core group) or `*.*`."""
    providers: Providers

    def has(self, resource: str) -> bool:
        group = resource.partition(".")[2]
        return not {resource, f"*.{group}", "*.*"}.isdisjoint(self.patterns)


class Encryption:
    """The codec of an encrypted store. The first group that matches a resource applies."""

    def __init__(self, groups: Sequence[ResourceGroup], others: Providers = PLAIN_TEXT) -> None:
        """`others` applies to resources of no group."""
        self._groups = tuple(groups)
        self._others = others
        self._by_resource: dict[str, Providers] = {}

    @property
    def keys(self) -> tuple[EncryptionKey, ...]:
        """The keys that encrypt, in order of their groups."""
        firsts = [group.providers.first for group in self._groups]
        return tuple(dict.fromkeys(key for key in firsts if key is not None))

    def encode(self, key: Key, revision: int, data: bytes) -> bytes:
        first = self._of(key[0]).first
        return data if first is None else first.encrypt(data, _context(key, revision))

    def decode(self, key: Key, revision: int, stored: bytes) -> bytes:
        providers = self._of(key[0])
        if not stored.startswith(ENCRYPTED_PREFIX):
            if not providers.reads_plain:
                raise PlainValueRefused(f"{_place(key)} is stored in plain text, which is not allowed")
            return stored
        for candidate in providers.keys:
            if stored.startswith(candidate.prefix):
                return _decrypt(candidate, key, revision, stored)
        raise EncryptionKeyMissing(
            f"{_place(key)} is encrypted with key {_key_name(stored)}, which is not among the given keys"
        )

    def is_current(self, key: Key, stored: bytes) -> bool:
        """Whether a value is encrypted with the current key, or plain where nothing is to be encrypted."""
        first = self._of(key[0]).first
        if first is None:
            return not stored.startswith(ENCRYPTED_PREFIX)
        return stored.startswith(first.prefix)

    def accept_store(self, is_encrypted: bool) -> bool:
        """Whether any key encrypts new objects."""
        return bool(self.keys)

    def _of(self, resource: str) -> Providers:
        providers = self._by_resource.get(resource)
        if providers is None:
            matching = (group.providers for group in self._groups if group.has(resource))
            providers = self._by_resource[resource] = next(matching, self._others)
        return providers


def _decrypt(candidate: EncryptionKey, key: Key, revision: int, stored: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag

    try:
        return candidate.decrypt(stored, _context(key, revision))
    except (InvalidTag, ValueError):
        raise EncryptionKeyWrong(
            f"{_place(key)} cannot be decrypted: the key {candidate.name} is not the one that encrypted it, "
            "or the value is not the one that was stored"
        ) from None


def _context(key: Key, revision: int) -> bytes:
    """The data that is authenticated with a value. No part of a key has a line break."""
    return f"{key[0]}\n{key[1]}\n{key[2]}\n{revision}".encode()


def _key_name(stored: bytes) -> str:
    return stored.removeprefix(_AESGCM_PREFIX).partition(b":")[0].decode(errors="replace")


def _place(key: Key) -> str:
    return "/".join(part for part in key if part)
