"""Helpers for roles, bindings and authorizers."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from crossply.apiserver.auth.rbac import Authorizer
from crossply.apiserver.auth.rbac.role_index import RoleIndex
from crossply.apiserver.endpoints.request_info import RequestInfo, User

GROUP = "rbac.authorization.k8s.io"
_PLURALS = {
    "Role": "roles",
    "ClusterRole": "clusterroles",
    "RoleBinding": "rolebindings",
    "ClusterRoleBinding": "clusterrolebindings",
}
Object = dict[str, Any]


class Change(NamedTuple):
    """A change as the store sends it."""

    type: str
    key: tuple[str, str, str]
    data: bytes


def change(body: Object, type_: str = "ADDED") -> Change:
    metadata = body["metadata"]
    key = (f"{_PLURALS[body['kind']]}.{GROUP}", metadata.get("namespace", ""), metadata["name"])
    return Change(type_, key, orjson.dumps(body))


def authorizer_of(*bodies: Object) -> Authorizer:
    index = RoleIndex()
    for body in bodies:
        index.apply(change(body))
    return Authorizer(index)


def rule(verbs: str, resources: str, groups: str = "core", names: str = "") -> Object:
    body = {
        "verbs": verbs.split(),
        "resources": resources.split(),
        "apiGroups": ["" if group == "core" else group for group in groups.split()],
    }
    return {**body, "resourceNames": names.split()} if names else body


def urls(verbs: str, paths: str) -> Object:
    return {"verbs": verbs.split(), "nonResourceURLs": paths.split()}


def cluster_role(name: str, *rules: Object, **more: Any) -> Object:
    labels = more.pop("labels", None)
    metadata = {"name": name, **({"labels": labels} if labels else {})}
    return {
        "kind": "ClusterRole",
        "apiVersion": f"{GROUP}/v1",
        "metadata": metadata,
        "rules": [*rules],
        **more,
    }


def role(namespace: str, name: str, *rules: Object) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"kind": "Role", "apiVersion": f"{GROUP}/v1", "metadata": metadata, "rules": [*rules]}


def cluster_binding(name: str, role_name: str, *subjects: Object, kind: str = "ClusterRole") -> Object:
    return {
        "kind": "ClusterRoleBinding",
        "apiVersion": f"{GROUP}/v1",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role_name},
        "subjects": [*subjects],
    }


def binding(namespace: str, name: str, role_name: str, *subjects: Object, kind: str = "Role") -> Object:
    return {
        **cluster_binding(name, role_name, *subjects, kind=kind),
        "kind": "RoleBinding",
        "metadata": {"name": name, "namespace": namespace},
    }


def user(name: str) -> Object:
    return {"kind": "User", "apiGroup": GROUP, "name": name}


def group(name: str) -> Object:
    return {"kind": "Group", "apiGroup": GROUP, "name": name}


def account(name: str, namespace: str = "") -> Object:
    return {"kind": "ServiceAccount", "name": name, **({"namespace": namespace} if namespace else {})}


JANE = User("jane", ("system:authenticated",))
ADMIN = User("root", ("system:masters", "system:authenticated"))


def ask(verb: str, resource: str, namespace: str = "", name: str = "", api_group: str = "") -> RequestInfo:
    resource, _, subresource = resource.partition("/")
    return RequestInfo(
        verb, "", group=api_group, version="v1", namespace=namespace, resource=resource, name=name,
        subresource=subresource,
    )  # fmt: skip


def ask_path(verb: str, path: str) -> RequestInfo:
    return RequestInfo(verb, path)
