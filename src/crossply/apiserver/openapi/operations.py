"""The OpenAPI paths and operations of a resource."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.discovery import subresources_of, verbs_of
from crossply.apiserver.openapi.definitions import (
    META,
    SCALE,
    definition_name,
    group_version_kind,
    reference,
)
from crossply.apiserver.served_resources import Resource, Version
from crossply.values import Object

MEDIA = ("application/json", "application/yaml")
_LIST = (
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
)
_WRITE = (("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string"))
_DELETE = (
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
)
_PATCHES = ("application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml")
_STRATEGIC = "application/strategic-merge-patch+json"
_MEANS = {200: "OK", 201: "Created", 202: "Accepted"}


class Operations:
    def __init__(self, resource: Resource, version: Version) -> None:
        self._resource = resource
        self._version = version
        self._kind = group_version_kind(resource, version)
        self._name = definition_name(resource, version)
        group = resource.group.removesuffix(".k8s.io") if not resource.custom else resource.group
        words = [word for word in group.replace("-", ".").split(".") if word] or ["core"]
        self._tag = words[0] + "".join(word.capitalize() for word in words[1:]) + f"_{version.name}"
        self._title = "".join(word.capitalize() for word in words) + version.name.capitalize()

    def paths(self) -> dict[str, Object]:
        resource = self._resource
        root = f"/apis/{resource.group}" if resource.group else "/api"
        root = f"{root}/{self._version.name}"
        plural = resource.names.plural
        verbs = verbs_of(resource, self._version)
        paths: dict[str, Object] = {}
        base = f"{root}/namespaces/{{namespace}}/{plural}" if resource.namespaced else f"{root}/{plural}"
        if resource.namespaced and "list" in verbs:
            paths[f"{root}/{plural}"] = {"get": self._list("ForAllNamespaces")}
        paths[base] = self._with_parameters(self._collection(verbs), [])
        item = self._object(verbs)
        if item:
            paths[f"{base}/{{name}}"] = self._with_parameters(item, ["name"])
        for name, (kind, allowed) in subresources_of(resource, self._version).items():
            path = f"{base}/{{name}}/{name}"
            paths[path] = self._with_parameters(self._subresource(name, kind, allowed), ["name"])
        return paths

    def _collection(self, verbs: list[str]) -> Object:
        item: Object = {}
        if "list" in verbs:
            item["get"] = self._list("")
        if "create" in verbs:
            item["post"] = self._operation("create", "post", _WRITE, self._name, self._name, (200, 201, 202))
        if "deletecollection" in verbs:
            status = f"{META}.Status"
            item["delete"] = self._operation("deleteCollection", "deletecollection", _LIST, None, status)
        return item

    def _object(self, verbs: list[str]) -> Object:
        item: Object = {}
        if "get" in verbs:
            item["get"] = self._operation("read", "get", (), None, self._name)
        if "update" in verbs:
            item["put"] = self._operation("replace", "put", _WRITE, self._name, self._name, (200, 201))
        if "delete" in verbs:
            names = f"{META}.DeleteOptions", f"{META}.Status"
            item["delete"] = self._operation("delete", "delete", _DELETE, *names, (200, 202))
        if "patch" in verbs:
            item["patch"] = self._patch("", self._name)
        return item

    def _subresource(self, name: str, kind: Any, verbs: list[str]) -> Object:
        target = SCALE if name == "scale" else self._name
        if kind and kind[2] == "TokenRequest":
            target = "io.k8s.api.authentication.v1.TokenRequest"
        suffix = name.capitalize()
        item: Object = {}
        if "get" in verbs:
            item["get"] = self._operation("read", "get", (), None, target, suffix=suffix)
        if "create" in verbs:
            item["post"] = self._operation("create", "post", _WRITE, target, target, (200, 201), suffix)
        if "update" in verbs:
            item["put"] = self._operation("replace", "put", _WRITE, target, target, (200, 201), suffix)
        if "patch" in verbs:
            item["patch"] = self._patch(suffix, target)
        if kind and not self._resource.custom:
            other = dict(zip(("group", "version", "kind"), kind, strict=True))
            for operation in item.values():
                operation["x-kubernetes-group-version-kind"] = other
        return item

    def _list(self, suffix: str) -> Object:
        scoped = "" if suffix else None
        return self._operation("list", "list", _LIST, None, self._name + "List", suffix=suffix, scope=scoped)

    def _patch(self, suffix: str, target: str) -> Object:
        parameters = (*_WRITE, ("force", "boolean"))
        operation = self._operation("patch", "patch", parameters, None, target, (200, 201), suffix)
        forms = _PATCHES if self._resource.custom else (*_PATCHES, _STRATEGIC)
        operation["requestBody"] = _body(forms, f"{META}.Patch", required=True)
        return operation

    def _operation(
        self,
        verb: str,
        action: str,
        parameters: tuple[tuple[str, str], ...],
        takes: str | None,
        gives: str,
        codes: tuple[int, ...] = (200,),
        suffix: str = "",
        scope: str | None = None,
    ) -> Object:
        middle = scope if scope is not None else "Namespaced" if self._resource.namespaced else ""
        collection = "Collection" if verb == "deleteCollection" else ""
        identity = f"{verb.removesuffix('Collection')}{self._title}{collection}{middle}"
        operation: Object = {
            "tags": [self._tag],
            "operationId": f"{identity}{self._resource.names.kind}{suffix}",
            "responses": _responses(gives, codes),
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": self._kind,
        }
        if parameters:  # Go clients omit an empty list when they write the document back
            operation["parameters"] = [_query(name, kind) for name, kind in parameters]
        if takes is not None:
            operation["requestBody"] = _body(MEDIA, takes, required=action != "delete")
        return operation

    def _with_parameters(self, item: Object, names: list[str]) -> Object:
        placed = [*names, "namespace"] if self._resource.namespaced else names
        parameters = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string", "uniqueItems": True}}
            for name in placed
        ]
        return {**item, "parameters": [*parameters, _query("pretty", "string")]}


def _query(name: str, kind: str) -> Object:
    return {"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": True}}


def _body(forms: tuple[str, ...], name: str, required: bool) -> Object:
    body: Object = {"content": {form: {"schema": reference(name)} for form in forms}}
    if required:
        body["required"] = True
    return body


def _responses(name: str, codes: tuple[int, ...]) -> Object:
    content = {form: {"schema": reference(name)} for form in MEDIA}
    responses = {str(code): {"description": _MEANS[code], "content": content} for code in codes}
    return {**responses, "401": {"description": "Unauthorized"}}
