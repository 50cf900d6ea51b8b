"""Discovery: /api, /apis and below, in the legacy form (one document per version) and the aggregated one.

Documents are built from the registry on request, and cached until the registry changes. The encoded row of
each resource is cached as long as the resource: one definition more does not cost as much as all of them.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import orjson

from crossply.apiserver.endpoints.negotiation import negotiate
from crossply.apiserver.endpoints.replies import Reply, reply_value
from crossply.apiserver.endpoints.request_info import RequestInfo
from crossply.apiserver.endpoints.status_errors import StatusError, no_such_path
from crossply.apiserver.served_groups import GroupIndex, Groups
from crossply.apiserver.served_resources import Resource, Version
from crossply.values import Object

_CUSTOM_VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
_SUBRESOURCE_VERBS = ["get", "patch", "update"]
_AGGREGATED = "apidiscovery.k8s.io"
_TEXT_404 = b"404 page not found\n"


class Discovery:
    def __init__(self, index: GroupIndex) -> None:
        self._index = index
        self._generation = -1
        self._documents: dict[tuple[str, str], tuple[bytes, str]] = {}
        self._rows: WeakKeyDictionary[Version, bytes] = WeakKeyDictionary()
        self.rows_encoded = 0
        """How many resources had to be encoded for the aggregated form."""

    async def page(self, context: Any, info: RequestInfo, headers: Mapping[str, str]) -> Reply:
        """Answer a path at or below /api or /apis."""
        path = info.path.rstrip("/")
        version = accepted_version(headers.get("Accept", "")) if path in ("/api", "/apis") else ""
        if version:
            return self._aggregated_reply(path, version, headers.get("If-None-Match", ""))
        document = legacy_document(self._index.groups(), path, headers.get("Host", ""))
        if document is None:
            return Reply(404, _TEXT_404, "text/plain; charset=utf-8")
        form = negotiate(headers.get("Accept", ""))
        if form.shape != "object":
            raise StatusError(406, "NotAcceptable", "only whole objects can be produced here")
        return await reply_value(context.background, 200, document, form)

    def _aggregated_reply(self, path: str, version: str, known: str) -> Reply:
        if self._generation != self._index.generation:
            self._documents.clear()
            self._generation = self._index.generation
        if (path, version) not in self._documents:
            document = aggregated(self._index.groups(), path == "/api", version, self._row)
            body = orjson.dumps(document) + b"\n"
            self._documents[path, version] = (body, etag_of(body))
        body, etag = self._documents[path, version]
        headers = {"ETag": etag, "Vary": "Accept", "Cache-Control": "public"}
        content_type = f"application/json;g={_AGGREGATED};v={version};as=APIGroupDiscoveryList"
        if known == etag:
            return Reply(304, b"", content_type, headers)
        return Reply(200, body, content_type, headers)

    def _row(self, resource: Resource, version: Version) -> orjson.Fragment:
        row = self._rows.get(version)
        if row is None:
            row = self._rows[version] = orjson.dumps(resource_item(resource, version))
            self.rows_encoded += 1
        return orjson.Fragment(row)


def etag_of(body: bytes) -> str:
    return f'"{hashlib.sha512(body).hexdigest().upper()}"'


def accepted_version(accept: str) -> str:
    """The version of the aggregated form that an Accept header prefers; empty for the legacy form."""
    for clause in accept.split(","):
        media, *parameters = [part.strip() for part in clause.split(";")]
        options = dict(part.partition("=")[::2] for part in parameters)
        if media != "application/json":
            continue
        if options.get("g") == _AGGREGATED and options.get("as") == "APIGroupDiscoveryList":
            if options.get("v") == "v2":
                return "v2"
            continue
        return ""
    return ""


def legacy_document(groups: Groups, path: str, host: str) -> Object | None:
    """The document at a path, or None if the group is not served."""
    _, _, *parts = path.split("/")
    if path == "/api":
        address = {"clientCIDR": "0.0.0.0/0", "serverAddress": host}
        return {
            "kind": "APIVersions",
            "versions": list(groups.get("", ())),
            "serverAddressByClientCIDRs": [address],
        }
    if path == "/apis":
        listed = [_group(name, versions) for name, versions in groups.items() if name]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}
    group, *version = ["", *parts] if path.startswith("/api/") else parts
    if group not in groups:
        return None
    if not version:
        return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, groups[group])}
    if len(version) > 1 or version[0] not in groups[group]:
        raise no_such_path()
    return _resource_list(group, version[0], groups[group][version[0]])


def _group(name: str, versions: Iterable[str]) -> Object:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _resource_list(group: str, version: str, resources: list[Resource]) -> Object:
    head = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/{version}"}
    if not group:
        head = {"kind": "APIResourceList", "groupVersion": version}
    listed = [row for resource in resources for row in _rows(resource, resource.versions[version])]
    return {**head, "resources": listed}


def _rows(resource: Resource, version: Version) -> Iterable[Object]:
    names = resource.names
    row: Object = {
        "name": names.plural,
        "singularName": names.singular,
        "namespaced": resource.namespaced,
        "kind": names.kind,
        "verbs": verbs_of(resource, version),
        "shortNames": list(names.short_names),
        "categories": list(names.categories),
        "storageVersionHash": storage_hash(resource) if "list" in version.verbs else "",
    }
    yield {key: value for key, value in row.items() if value or key in ("singularName", "namespaced")}
    for name, (group_version_kind, verbs) in subresources_of(resource, version).items():
        group, at, kind = group_version_kind or ("", "", names.kind)
        shown = {"group": group, "version": at} if at else {}
        yield {
            "name": f"{names.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            **shown,
            "kind": kind,
            "verbs": verbs,
        }


def verbs_of(resource: Resource, version: Version) -> list[str]:
    """The verbs of a resource, in kube-apiserver's order."""
    return list(_CUSTOM_VERBS if resource.custom else version.verbs)


Kind = tuple[str, str, str]


def subresources_of(resource: Resource, version: Version) -> dict[str, tuple[Kind | None, list[str]]]:
    """Subresources by name: their kind if it is another, and their verbs."""
    if not resource.custom:
        rows = _built_in_rows().get((resource.group, version.name, resource.names.plural), {})
        return {
            name: (tuple(row["kind"]) if "kind" in row else None, row["verbs"])
            for name, row in sorted(rows.get("subresources", {}).items())
        }
    subresources: dict[str, tuple[Kind | None, list[str]]] = {}
    if "status" in version.subresources:
        subresources["status"] = (None, _SUBRESOURCE_VERBS)
    if "scale" in version.subresources:
        subresources["scale"] = (("autoscaling", "v1", "Scale"), _SUBRESOURCE_VERBS)
    return subresources


@functools.cache
def _built_in_rows() -> dict[tuple[str, str, str], Object]:
    from crossply.apiserver.builtin.kind_schema_table import table

    return {(row["group"], row["version"], row["plural"]): row for row in table().resources}


def storage_hash(resource: Resource) -> str:
    """The storageVersionHash."""
    row = _built_in_rows().get((resource.group, resource.storage_version, resource.names.plural))
    if row is not None:
        return str(row.get("storageVersionHash", ""))
    text = f"{resource.group}/{resource.storage_version}/{resource.names.kind}"
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()


def aggregated(groups: Groups, core: bool, version: str, row: Callable[[Resource, Version], Any]) -> Object:
    """All groups with their versions and resources in one document."""
    items = []
    for group, versions in groups.items():
        if bool(group) is not core:
            listed = [
                {
                    "version": name,
                    "resources": [row(resource, resource.versions[name]) for resource in resources],
                    "freshness": "Current",
                }
                for name, resources in versions.items()
            ]
            items.append({"metadata": {"name": group} if group else {}, "versions": listed})
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"{_AGGREGATED}/{version}",
        "metadata": {},
        "items": items,
    }


def resource_item(resource: Resource, version: Version) -> Object:
    """A resource in the aggregated form."""
    names = resource.names
    own = _kind(resource, version, None)
    row: Object = {
        "resource": names.plural,
        "responseKind": own,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": names.singular,
        "verbs": verbs_of(resource, version),
        "shortNames": list(names.short_names),
        "categories": list(names.categories),
        "subresources": [
            {"subresource": name, "responseKind": _kind(resource, version, kind), "verbs": verbs}
            for name, (kind, verbs) in subresources_of(resource, version).items()
        ],
    }
    return {key: value for key, value in row.items() if value}


def _kind(resource: Resource, version: Version, other: Kind | None) -> Object:
    """The responseKind of a resource; that of built-in ones is abbreviated."""
    if other is not None:
        group, at, kind = other
    elif resource.custom:
        group, at, kind = resource.group, version.name, resource.names.kind
    else:
        group, at, kind = "", "", resource.names.kind
    return {"group": group, "version": at, "kind": kind}


__all__ = [
    "Discovery",
    "aggregated",
    "etag_of",
    "legacy_document",
    "resource_item",
    "storage_hash",
]
