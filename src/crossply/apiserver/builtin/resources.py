"""The built-in kinds as resources."""

from __future__ import annotations

from dataclasses import replace

from crossply.apiserver.builtin.printers import columns_of
from crossply.apiserver.builtin.resource_table import names_by_kind, table
from crossply.apiserver.builtin.schemas import structural
from crossply.apiserver.registry.resources import Names, Resource, ScalePaths, Version
from crossply.values import Object

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
