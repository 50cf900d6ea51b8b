"""Metadata of objects inside custom resources: it is typed like any metadata, so it has no other fields."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from crossply.values import Object

_EMBEDDED = "x-kubernetes-embedded-resource"


class MetadataReader:
    """Takes unknown fields out of embedded metadata, and remembers where they were."""

    def __init__(self, known: Collection[str]) -> None:
        self._known = known
        self.unknown: list[str] = []

    def read(self, value: Any, schema: Any, path: str = "") -> Any:
        """The value with metadata that has only the fields of metadata; what is right stays as it is."""
        if not _embeds(schema):
            return value
        if isinstance(value, list):
            return [self.read(item, schema.get("items"), f"{path}[{at}]") for at, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
        read = {
            key: self.read(member, properties.get(key, others), f"{path}.{key}" if path else key)
            for key, member in value.items()
        }
        if schema.get(_EMBEDDED) and isinstance(read.get("metadata"), dict):
            read["metadata"] = self._metadata(read["metadata"], f"{path}.metadata")
        return read

    def _metadata(self, metadata: Object, path: str) -> Object:
        self.unknown += [f"{path}.{key}" for key in metadata if key not in self._known]
        empty: tuple[Any, ...] = (None, "", {}, [])
        return {key: value for key, value in metadata.items() if key in self._known and value not in empty}


def _embeds(schema: Any) -> bool:
    """Whether there are embedded objects anywhere in a schema."""
    if not isinstance(schema, dict):
        return False
    return (
        bool(schema.get(_EMBEDDED))
        or _embeds(schema.get("items"))
        or _embeds(schema.get("additionalProperties"))
        or any(map(_embeds, (schema.get("properties") or {}).values()))
    )
