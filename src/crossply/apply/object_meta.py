"""The schema of metadata: every kind has the same, whatever its own schema says of it."""

from __future__ import annotations

from crossply.values import Object

_STRING: Object = {"type": "string"}
_TIME: Object = {"type": "string", "format": "date-time"}
_INTEGER: Object = {"type": "integer", "format": "int64"}
_STRINGS: Object = {"type": "object", "additionalProperties": _STRING}

_OWNER: Object = {
    "type": "object",
    "x-kubernetes-map-type": "atomic",
    "properties": {
        "apiVersion": {"type": "string", "default": ""},
        "blockOwnerDeletion": {"type": "boolean"},
        "controller": {"type": "boolean"},
        "kind": {"type": "string", "default": ""},
        "name": {"type": "string", "default": ""},
        "uid": {"type": "string", "default": ""},
    },
}

_MANAGED: Object = {
    "type": "object",
    "properties": {
        "apiVersion": _STRING,
        "fieldsType": _STRING,
        "fieldsV1": {"type": "object"},
        "manager": _STRING,
        "operation": _STRING,
        "subresource": _STRING,
        "time": _TIME,
    },
}

OBJECT_META: Object = {
    "type": "object",
    "properties": {
        "annotations": _STRINGS,
        "creationTimestamp": _TIME,
        "deletionGracePeriodSeconds": _INTEGER,
        "deletionTimestamp": _TIME,
        "finalizers": {"type": "array", "x-kubernetes-list-type": "set", "items": _STRING},
        "generateName": _STRING,
        "generation": _INTEGER,
        "labels": _STRINGS,
        "managedFields": {"type": "array", "x-kubernetes-list-type": "atomic", "items": _MANAGED},
        "name": _STRING,
        "namespace": _STRING,
        "ownerReferences": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
            "items": _OWNER,
        },
        "resourceVersion": _STRING,
        "selfLink": _STRING,
        "uid": _STRING,
    },
}
