"""The typed metadata of objects: of the object itself, and of objects embedded in custom resources."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import StatusError, bad_request
from crossply.values import Object

TEXTS = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
)
MAPS = ("labels", "annotations")
LISTS = ("ownerReferences", "finalizers", "managedFields")
NUMBERS = ("generation", "deletionGracePeriodSeconds")
METADATA_FIELDS = frozenset((*TEXTS, *MAPS, *LISTS, *NUMBERS))
_EMBEDDED = "x-kubernetes-embedded-resource"


class MetadataReader:
    """Removes unknown fields from embedded metadata, and remembers their paths."""

    def __init__(self, known: Collection[str]) -> None:
        self._known = known
        self.unknown: list[str] = []

    def read(self, value: Any, schema: Any, path: str = "") -> Any:
        """The value with only known fields in embedded metadata."""
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
    """Whether a schema has embedded resources at any depth."""
    if not isinstance(schema, dict):
        return False
    return (
        bool(schema.get(_EMBEDDED))
        or _embeds(schema.get("items"))
        or _embeds(schema.get("additionalProperties"))
        or any(map(_embeds, (schema.get("properties") or {}).values()))
    )


def read_metadata(metadata: Any, call: Call) -> tuple[Object, list[str]]:
    """Typed metadata, and the paths of unknown fields."""
    if metadata is None:
        return {}, []
    if not isinstance(metadata, dict):
        raise _wrong_type(call, metadata, "metadata", "v1.ObjectMeta")
    unknown = [f"metadata.{key}" for key in metadata if key not in METADATA_FIELDS]
    typed: Object = {}
    for key, value in metadata.items():
        if value is None or key not in METADATA_FIELDS:
            continue
        _check_type(call, key, value)
        if value not in ("", {}, []) or key == "creationTimestamp":
            typed[key] = value
    return typed, unknown


def _check_type(call: Call, key: str, value: Any) -> None:
    if key in TEXTS and not isinstance(value, str):
        raise _wrong_type(call, value, f"metadata.{key}", "string")
    if key in NUMBERS and (not isinstance(value, int) or isinstance(value, bool)):
        raise _wrong_type(call, value, f"metadata.{key}", "int64")
    if key in MAPS:
        if not isinstance(value, dict):
            raise _wrong_type(call, value, f"metadata.{key}", "map[string]string")
        for member in value.values():
            if not isinstance(member, str):
                raise _wrong_type(call, member, f"metadata.{key}", "string")
    if key in LISTS:
        item = str if key == "finalizers" else dict
        if not isinstance(value, list) or any(not isinstance(element, item) for element in value):
            raise _wrong_type(call, value, f"metadata.{key}", "[]" + ("string" if item is str else "object"))


def _wrong_type(call: Call, value: Any, path: str, go_type: str) -> StatusError:
    kind = call.resource.names.kind
    return bad_request(
        f'{kind} in version "{call.version.name}" cannot be handled as a {kind}: json: cannot unmarshal '
        f"{json_type(value)} into Go struct field ObjectMeta.{path} of type {go_type}"
    )


def json_type(value: Any) -> str:
    """The name of Go's decoder for the JSON type of a value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    names: dict[type, str] = {str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")
