"""`status.watchedResourceRefs` of a composite resource: in its CRD once a function wants something watched.

Kinds whose functions watch nothing keep the CRD that their definition stands for.
"""

from __future__ import annotations

from crossply.kinds.composition import WATCHED_REFS
from crossply.values import Object

_TEXT = {"type": "string"}
_SCHEMA: Object = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["apiVersion", "kind", "name"],
        "properties": {"apiVersion": _TEXT, "kind": _TEXT, "name": _TEXT, "namespace": _TEXT},
    },
    "x-kubernetes-list-type": "atomic",
}


def has_watched_refs(crd: Object) -> bool:
    """Whether every version of a kind has the field."""
    return all(WATCHED_REFS in _status_of(version) for version in crd["spec"]["versions"])


def with_watched_refs(crd: Object) -> Object:
    """The CRD with the field in every version."""
    versions = [_with_field(version) for version in crd["spec"]["versions"]]
    return {**crd, "spec": {**crd["spec"], "versions": versions}}


def keep_watched_refs(crd: Object, live: Object | None) -> Object:
    """The CRD with the field, if the live one of the same name has it."""
    return with_watched_refs(crd) if live is not None and has_watched_refs(live) else crd


def _status_of(version: Object) -> Object:
    schema: Object = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    status: Object = (schema.get("properties") or {}).get("status") or {}
    return status.get("properties") or {}


def _with_field(version: Object) -> Object:
    schema = version["schema"]["openAPIV3Schema"]
    status = {"type": "object", **(schema["properties"].get("status") or {})}
    status["properties"] = {**(status.get("properties") or {}), WATCHED_REFS: _SCHEMA}
    properties = {**schema["properties"], "status": status}
    return {**version, "schema": {"openAPIV3Schema": {**schema, "properties": properties}}}
