"""The custom kind of the cases that are not about definitions."""

from __future__ import annotations

from tests.support.api.client import Object

WIDGET_SPEC: Object = {
    "size": {"type": "integer", "minimum": 0},
    "colour": {"type": "string", "enum": ["red", "green", "blue"]},
    "note": {"type": "string"},
    "replicas": {"type": "integer"},
    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "parts": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "weight": {"type": "integer"}},
        },
    },
    "atoms": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "mode": {"type": "string", "default": "plain"},
}


WIDGET_STATUS: Object = {
    "phase": {"type": "string"},
    "replicas": {"type": "integer"},
    "selector": {"type": "string"},
}


WIDGET_COLUMNS = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "description": "How large it is"},
    {"name": "Colour", "type": "string", "jsonPath": ".spec.colour", "priority": 1},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]
