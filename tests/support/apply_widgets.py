"""A kind with every way of merging, and shorthand for the objects and owners that the tests speak of."""

from __future__ import annotations

from typing import Any

from crossply.apply import custom_scopes

NOW = "2024-05-01T10:00:00Z"
LATER = "2024-05-01T11:00:00Z"
_STRING = {"type": "string"}
_STRINGS = {"type": "object", "additionalProperties": _STRING}


def _list(kind: str, items: dict[str, Any], *keys: str) -> dict[str, Any]:
    list_schema = {"type": "array", "x-kubernetes-list-type": kind, "items": items}
    return {**list_schema, "x-kubernetes-list-map-keys": list(keys)} if keys else list_schema


_PORT = {
    "type": "object",
    "properties": {
        "port": {"type": "integer"},
        "protocol": {"type": "string", "default": "TCP"},
        "name": _STRING,
    },
}
_ITEM = {"type": "object", "properties": {"name": _STRING, "value": _STRING, "tags": _list("set", _STRING)}}
FIELDS: dict[str, Any] = {
    "text": _STRING,
    "count": {"type": "integer"},
    "ratio": {"type": "number"},
    "flag": {"type": "boolean"},
    "when": {"type": "string", "format": "date-time"},
    "port": {"x-kubernetes-int-or-string": True},
    "words": {"type": "array", "items": _STRING},
    "tags": _list("set", _STRING),
    "items": _list("map", _ITEM, "name"),
    "ports": _list("map", _PORT, "port", "protocol"),
    "map": _STRINGS,
    "block": {**_STRINGS, "x-kubernetes-map-type": "atomic"},
    "struct": {"type": "object", "properties": {"a": _STRING, "b": _STRING}},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "template": {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"data": _STRING}},
}


def schema(fields: dict[str, Any]) -> dict[str, Any]:
    status = {"type": "object", "properties": {"phase": _STRING}}
    spec = {"type": "object", "properties": fields}
    return {"type": "object", "properties": {"spec": spec, "status": status}}


def crd(**versions: dict[str, Any]) -> dict[str, Any]:
    listed = [
        {"name": name, "schema": {"openAPIV3Schema": schema(fields)}, "subresources": {"status": {}}}
        for name, fields in versions.items()
    ]
    return {"spec": {"group": "shop.example.org", "names": {"kind": "Widget"}, "versions": listed}}


SCOPES = custom_scopes(crd(v1=FIELDS, v2=FIELDS))
MAIN, STATUS = SCOPES["v1", ""], SCOPES["v1", "status"]


def widget(spec: Any = None, **more: Any) -> dict[str, Any]:
    obj: dict[str, Any] = {
        "apiVersion": "shop.example.org/v1",
        "kind": "Widget",
        "metadata": {"name": "w"},
    }
    if spec is not None:
        obj["spec"] = spec
    return {**obj, **more}


def stored(object_: dict[str, Any]) -> dict[str, Any]:
    """An object as a server keeps it."""
    return {**object_, "metadata": {**object_["metadata"], "uid": "u-1"}}


def owners(object_: dict[str, Any]) -> dict[str, Any]:
    """Who owns what: "manager operation [subresource]" → fields."""
    entries = object_["metadata"].get("managedFields", [])
    return {
        " ".join(filter(None, (e["manager"], e["operation"], e.get("subresource")))): e["fieldsV1"]
        for e in entries
    }
