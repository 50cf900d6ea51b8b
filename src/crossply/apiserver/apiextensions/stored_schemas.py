"""Schemas of served definitions: kept as the store holds them, decoded when a kind is first used.

A provider may bring thousands of definitions, of which few are ever used. The bytes are those of the store,
so they take no memory of their own; the decoded schemas of the kinds used last are cached.
"""

from __future__ import annotations

from functools import partial

from crossply.apiserver.stored_object_codec import decode
from crossply.values import Object
from crossply.values.bounded_cache import SharedCache

_CACHED_BYTES = 16 << 20
"""Of JSON; decoded, it takes about three times as much."""


class StoredDefinition:
    """The stored form of a definition."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data
        """Replaced after writes that do not change the spec, so that older bytes can be freed."""


class DecodedSchemas:
    """The schemas used last."""

    __slots__ = ("_cache", "decodings")

    def __init__(self) -> None:
        self._cache: SharedCache[StoredSchema, Object] = SharedCache(_CACHED_BYTES)
        self.decodings = 0
        """How many schemas had to be decoded."""

    def get(self, stored: StoredSchema) -> Object:
        return self._cache.get(stored, partial(self._decode, stored), stored.size)

    def _decode(self, stored: StoredSchema) -> Object:
        self.decodings += 1
        return stored.decode()


class StoredSchema:
    """The schema of one version of a stored definition."""

    __slots__ = ("_decoded", "_definition", "_version", "size")

    def __init__(self, decoded: DecodedSchemas, definition: StoredDefinition, version: str) -> None:
        self._decoded = decoded
        self._definition = definition
        self._version = version
        self.size = len(definition.data)

    def load(self) -> Object:
        """The schema; all callers get the same object."""
        return self._decoded.get(self)

    def decode(self) -> Object:
        """Decode the schema again, for one use."""
        versions = decode(self._definition.data)["spec"]["versions"]
        version = next(version for version in versions if version["name"] == self._version)
        schema: Object = version["schema"]["openAPIV3Schema"]
        return schema
