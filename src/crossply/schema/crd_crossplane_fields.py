"""The fields that every composite resource and claim has, independent of its definition.

Crossplane calls them the machinery: which Composition to use, what was composed, where secrets go, what
condition it is in. Everything here returns new dicts, because the caller puts them into a CRD that others
may change.

`status.watchedResourceRefs` is in a CRD only once a function wants something watched. Kinds whose functions
watch nothing keep the CRD that their definition stands for.
"""

from __future__ import annotations

from crossply.kinds.composition import WATCHED_REFS
from crossply.values import Object

LEGACY = "LegacyCluster"
NAMESPACED = "Namespaced"
_TEXT = {"type": "string"}
_WATCHED_REFS_SCHEMA: Object = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["apiVersion", "kind", "name"],
        "properties": {"apiVersion": _TEXT, "kind": _TEXT, "name": _TEXT, "namespace": _TEXT},
    },
    "x-kubernetes-list-type": "atomic",
}


def text() -> Object:
    """The schema of a string."""
    return {"type": "string"}


def texts(*names: str, required: tuple[str, ...] = ()) -> Object:
    """The schema of an object whose fields are strings."""
    schema: Object = {"type": "object", "properties": {name: text() for name in names}}
    return {**schema, "required": list(required)} if required else schema


def choice(*values: str, default: str | None = None) -> Object:
    """The schema of a string with a fixed set of values."""
    schema: Object = {"type": "string", "enum": list(values)}
    return schema if default is None else {**schema, "default": default}


def name_ref() -> Object:
    """A reference by name."""
    return texts("name", required=("name",))


def label_selector() -> Object:
    """A selector by labels."""
    return {
        "type": "object",
        "required": ["matchLabels"],
        "properties": {"matchLabels": {"type": "object", "additionalProperties": text()}},
    }


def composition_choice() -> Object:
    """The fields that select a Composition and a revision."""
    return {
        "compositionRef": name_ref(),
        "compositionSelector": label_selector(),
        "compositionRevisionRef": name_ref(),
        "compositionRevisionSelector": label_selector(),
        "compositionUpdatePolicy": choice("Automatic", "Manual"),
    }


def composed_refs(*, with_namespace: bool) -> Object:
    """The list of composed resources."""
    names = ("apiVersion", "kind", "name", "namespace") if with_namespace else ("apiVersion", "kind", "name")
    return {
        "type": "array",
        "items": texts(*names, required=("apiVersion", "kind")),
        "x-kubernetes-list-type": "atomic",
    }


def composite_spec(scope: str, update_policy: str | None) -> Object:
    """The machinery in the spec of a composite resource of this scope."""
    shared = composition_choice()
    shared["compositionUpdatePolicy"] = choice("Automatic", "Manual", default=update_policy)
    # A namespaced composite resource composes only what is in its own namespace.
    shared["resourceRefs"] = composed_refs(with_namespace=scope != NAMESPACED)
    if scope == LEGACY:
        object_ref = ("apiVersion", "kind", "namespace", "name")
        return {
            **shared,
            "claimRef": texts(*object_ref, required=object_ref),
            "writeConnectionSecretToRef": texts("name", "namespace", required=("name", "namespace")),
        }
    return {
        "crossplane": {
            "description": "Configures how Crossplane will reconcile this composite resource",
            "type": "object",
            "properties": shared,
        }
    }


def claim_spec(delete_policy: str | None) -> Object:
    """The machinery in the spec of a claim."""
    object_ref = ("apiVersion", "kind", "name")
    return {
        **composition_choice(),
        "compositeDeletePolicy": choice("Background", "Foreground", default=delete_policy),
        "resourceRef": texts(*object_ref, required=object_ref),
        "writeConnectionSecretToRef": name_ref(),
    }


def conditions() -> Object:
    """The list of conditions."""
    names = ("lastTransitionTime", "message", "observedGeneration", "reason", "status", "type")
    item = texts(*names, required=("lastTransitionTime", "reason", "status", "type"))
    item["properties"]["lastTransitionTime"]["format"] = "date-time"
    item["properties"]["observedGeneration"] = {"type": "integer", "format": "int64"}
    return {
        "description": "Conditions of the resource.",
        "type": "array",
        "items": item,
        "x-kubernetes-list-map-keys": ["type"],
        "x-kubernetes-list-type": "map",
    }


def connection_details() -> Object:
    """When connection details were last published."""
    return {
        "type": "object",
        "properties": {"lastPublishedTime": {"type": "string", "format": "date-time"}},
    }


def status(scope: str) -> Object:
    """The machinery in the status of a composite resource of this scope; a claim has the legacy one."""
    if scope != LEGACY:
        return {"conditions": conditions()}
    return {
        "conditions": conditions(),
        "connectionDetails": connection_details(),
        "claimConditionTypes": {"type": "array", "items": text(), "x-kubernetes-list-type": "set"},
    }


def condition_columns() -> list[Object]:
    """The columns that show whether a resource is synced and ready."""
    return [
        column("SYNCED", ".status.conditions[?(@.type=='Synced')].status"),
        column("READY", ".status.conditions[?(@.type=='Ready')].status"),
    ]


def composite_columns(prefix: str) -> list[Object]:
    """The columns of a composite resource whose machinery is under this path."""
    revision = column("COMPOSITIONREVISION", f"{prefix}.compositionRevisionRef.name")
    return [
        *condition_columns(),
        column("COMPOSITION", f"{prefix}.compositionRef.name"),
        {**revision, "priority": 1},
        age_column(),
    ]


def claim_columns(secret_path: str = ".spec.writeConnectionSecretToRef.name") -> list[Object]:
    """The columns of a claim."""
    return [*condition_columns(), column("CONNECTION-SECRET", secret_path), age_column()]


def age_column() -> Object:
    """How old a resource is."""
    return {"name": "AGE", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def column(name: str, path: str) -> Object:
    """A printer column of text."""
    return {"name": name, "type": "string", "jsonPath": path}


def has_watched_refs(crd: Object) -> bool:
    """Whether every version of a kind has the field."""
    return all(WATCHED_REFS in _status_of(version) for version in crd["spec"]["versions"])


def with_watched_refs(crd: Object) -> Object:
    """The CRD with the field in every version."""
    versions = [_with_watched_refs_field(version) for version in crd["spec"]["versions"]]
    return {**crd, "spec": {**crd["spec"], "versions": versions}}


def keep_watched_refs(crd: Object, live: Object | None) -> Object:
    """The CRD with the field, if the live one of the same name has it."""
    return with_watched_refs(crd) if live is not None and has_watched_refs(live) else crd


def _status_of(version: Object) -> Object:
    schema: Object = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    status: Object = (schema.get("properties") or {}).get("status") or {}
    return status.get("properties") or {}


def _with_watched_refs_field(version: Object) -> Object:
    schema = version["schema"]["openAPIV3Schema"]
    status = {"type": "object", **(schema["properties"].get("status") or {})}
    status["properties"] = {**(status.get("properties") or {}), WATCHED_REFS: _WATCHED_REFS_SCHEMA}
    properties = {**schema["properties"], "status": status}
    return {**version, "schema": {"openAPIV3Schema": {**schema, "properties": properties}}}
