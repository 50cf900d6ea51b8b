"""The built-in kinds as resources, with their structural schemas: definitions with references resolved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crossply.apiserver.builtin.kind_schema_table import definitions, names_by_kind, table
from crossply.apiserver.builtin.printers import columns_of
from crossply.apiserver.served_resources import Names, Resource, ScalePaths, Version
from crossply.values import Object

_OPEN: Object = {"x-kubernetes-preserve-unknown-fields": True}
_OPEN_OBJECT: Object = {"type": "object", **_OPEN}
_NUMBER_OR_TEXT: Object = {"x-kubernetes-int-or-string": True}

# These have a JSON form of their own: their schema says less than their Go code does.
_LEAVES: dict[str, Object] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": _NUMBER_OR_TEXT,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": _NUMBER_OR_TEXT,
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": _OPEN_OBJECT,
    "io.k8s.apimachinery.pkg.runtime.RawExtension": _OPEN_OBJECT,
}
_DROPPED = (
    "$ref",
    "required",
    "default",
    "enum",
    "oneOf",
    "x-kubernetes-group-version-kind",
    "x-kubernetes-unions",
)

_expanded: dict[str, Object] = {}


def structural(name: str, around: tuple[str, ...] = ()) -> Object:
    """The schema of a definition, for pruning and for finding unknown fields.

    It requires nothing and has no defaults: `strategies` and `defaults` do that for built-in kinds.
    A definition that is inside of itself (`around`) is open there.
    """
    schema = _expanded.get(name)
    if schema is None and name in around:
        return _OPEN
    if schema is None:
        schema = _LEAVES.get(name) or _expand(definitions()[name], (*around, name)) or _OPEN
        _expanded[name] = schema
    return schema


def _expand(schema: Object, around: tuple[str, ...]) -> Object:
    if "$ref" in schema:
        below = structural(schema["$ref"], around)
        relation = {key: schema[key] for key in ("x-kubernetes-map-type",) if key in schema}
        return {**below, **relation} if relation else below
    result: dict[str, Any] = {key: value for key, value in schema.items() if key not in _DROPPED}
    for key in ("items", "additionalProperties"):
        if key in schema:
            result[key] = _expand(schema[key], around)
    if "properties" in schema:
        result["properties"] = {
            name: _expand(member, around) for name, member in schema["properties"].items()
        }
    if result == {"type": "object"}:
        return _OPEN_OBJECT
    return result


_SELECTABLE: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "pods"): (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    ("", "events"): (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    ("events.k8s.io", "events"): (
        "regarding.kind",
        "regarding.namespace",
        "regarding.name",
        "regarding.uid",
        "regarding.apiVersion",
        "regarding.resourceVersion",
        "regarding.fieldPath",
        "reason",
        "reportingController",
        "type",
    ),
    ("", "secrets"): ("type",),
    ("", "namespaces"): ("status.phase",),
    ("", "nodes"): ("spec.unschedulable",),
    ("", "replicationcontrollers"): ("status.replicas",),
    ("", "services"): ("spec.clusterIP", "spec.type"),
    ("apps", "replicasets"): ("status.replicas",),
    ("batch", "jobs"): ("status.successful",),
    ("certificates.k8s.io", "certificatesigningrequests"): ("spec.signerName",),
}
_DEPRECATED = {
    ("", "endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}
_SCALE = ScalePaths(".spec.replicas", ".status.replicas", ".spec.selector")
_STORED = {"horizontalpodautoscalers": "v2"}


def resources() -> list[Resource]:
    """Every built-in resource, in the order of kube-apiserver's discovery."""
    rows: dict[tuple[str, str], list[Object]] = {}
    for row in table().resources:
        rows.setdefault((row["group"], row["plural"]), []).append(row)
    by_key = {key: _resource(versions) for key, versions in rows.items()}
    events = by_key.get(("events.k8s.io", "events"))
    if events is not None:
        by_key["events.k8s.io", "events"] = replace(events, stored_as=by_key["", "events"])
    return list(by_key.values())


def _resource(rows: list[Object]) -> Resource:
    first = rows[0]
    names = Names(
        first["plural"],
        first["kind"],
        first["singular"],
        first["kind"] + "List",
        tuple(first.get("shortNames", ())),
        tuple(first.get("categories", ())),
    )
    versions = {row["version"]: _version(row) for row in rows}
    storage: str = _STORED.get(first["plural"]) or first["version"]
    return Resource(first["group"], names, first["namespaced"], versions, storage)


def _version(row: Object) -> Version:
    subresources = frozenset(row.get("subresources", ()))
    return Version(
        row["version"],
        structural(names_by_kind()[row["group"], row["version"], row["kind"]]),
        subresources=subresources,
        scale=_SCALE if "scale" in subresources else None,
        columns=columns_of(row["group"], row["plural"]),
        selectable_fields=_SELECTABLE.get((row["group"], row["plural"]), ()),
        deprecation_warning=_DEPRECATED.get((row["group"], row["plural"]), ""),
        verbs=tuple(row["verbs"]),
    )


def definition_of(resource: Resource, version: str) -> Object:
    """The schema of a kind with references to `definitions()`, which server-side apply compiles."""
    name = names_by_kind()[resource.group, version, resource.names.kind]
    return table().definitions[name]
