"""What this room needs of the store: objects by key, and writes that stamp their own revision."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import orjson

from crossply.values import Object

Key = tuple[str, str, str]
"""Resource, namespace and name."""


class ReadableStore(Protocol):
    """A store that can be asked for an object."""

    def get(self, key: Key) -> Any:
        """The durable entry of an object, or None."""


class WritableStore(Protocol):
    """A store that objects can be written to."""

    def latest(self, key: Key) -> Any:
        """The newest entry of an object, durable or not, or None."""

    def write(self, key: Key, expected: int | None, encode: Callable[[int], bytes]) -> Awaitable[Any]:
        """Store an object if its revision is the expected one (None: if it does not exist)."""


def encoder(body: Object) -> Callable[[int], bytes]:
    """How the store is to encode an object once it knows the revision."""

    def encode(revision: int) -> bytes:
        metadata = {**body["metadata"], "resourceVersion": str(revision)}
        return orjson.dumps({**body, "metadata": metadata}, option=orjson.OPT_SORT_KEYS)

    return encode
