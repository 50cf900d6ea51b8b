"""A store with service accounts, a signing key, and a clock that tests can move."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

import orjson
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from crossply.apiserver.auth.service_account_tokens import AccountTokens
from crossply.apiserver.auth.token_signing import SigningKey

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ISSUER = "https://kubernetes.default.svc.cluster.local"
Key = tuple[str, str, str]


class StoredEntry(NamedTuple):
    """An object as the store returns it."""

    key: Key
    revision: int
    data: bytes


@dataclass
class ObjectStore:
    """A store of objects in memory."""

    entries: dict[Key, StoredEntry] = field(default_factory=dict)

    def put(self, resource: str, namespace: str, name: str, uid: str, **more: Any) -> None:
        metadata = {"name": name, "namespace": namespace, "uid": uid, **more.pop("metadata", {})}
        data = orjson.dumps({"metadata": metadata, **more})
        key = (resource, namespace, name)
        self.entries[key] = StoredEntry(key, len(self.entries) + 1 + hash(data) % 1000, data)

    def remove(self, resource: str, namespace: str, name: str) -> None:
        del self.entries[resource, namespace, name]

    def get(self, key: Key) -> StoredEntry | None:
        return self.entries.get(key)


@dataclass
class Clock:
    """A clock that a test advances."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)


@cache
def elliptic_pem() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@cache
def rsa_pem() -> bytes:
    key = rsa.generate_private_key(65537, 2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@dataclass
class Accounts:
    """Tokens and all that they depend on."""

    pem: bytes = field(default_factory=elliptic_pem)
    store: ObjectStore = field(default_factory=ObjectStore)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.key = SigningKey(self.pem)
        self.tokens = AccountTokens(self.store, self.key, self.clock)
        self.store.put("serviceaccounts", "a", "bot", "uid-1")

    def issue(self, seconds: int = 3600, audiences: tuple[str, ...] = (ISSUER,), **bound: Any) -> str:
        account = orjson.loads(self.store.entries["serviceaccounts", "a", "bot"].data)
        return self.tokens.issue(account, seconds, audiences, bound)
