"""Request info: the verb, resource, namespace and name that a URL means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

_WRITES = {"POST": "create", "PUT": "update", "PATCH": "patch"}


@dataclass(frozen=True, slots=True)
class User:
    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """The attributes of a request. `resource` is empty for paths such as /healthz."""

    verb: str
    path: str
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def is_resource(self) -> bool:
        return bool(self.resource)

    @property
    def is_namespace_itself(self) -> bool:
        """Whether the path is `/namespaces/x` or a subresource of it: its namespace is also its name.

        `/namespaces/x/namespaces/x` is parsed to the same fields, but is the path of an object in x.
        """
        in_namespace = f"/namespaces/{self.namespace}/namespaces"
        return self.resource == "namespaces" and self.name == self.namespace and in_namespace not in self.path


def parse_request(method: str, path: str, query: Mapping[str, str]) -> RequestInfo:
    """Parse a request line by the rules of Kubernetes' RequestInfo."""
    parts = [part for part in path.split("/") if part]
    plain = RequestInfo(method.lower(), path)
    if len(parts) < 2 or parts[0] not in ("api", "apis"):
        return plain
    if parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    else:
        if len(parts) < 3:
            return plain
        group, version, rest = parts[1], parts[2], parts[3:]
    info = replace(plain, group=group, version=version)
    if rest[:1] == ["watch"] and method == "GET" and len(rest) > 1:
        return replace(_with_resource(info, rest[1:], method, query), verb="watch")
    return _with_resource(info, rest, method, query) if rest else info


def _with_resource(info: RequestInfo, rest: list[str], method: str, query: Mapping[str, str]) -> RequestInfo:
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        # /namespaces/x/status and /namespaces/x/finalize are subresources of the namespace itself.
        if len(rest) > 2 and rest[2] not in ("status", "finalize"):
            rest = rest[2:]
    resource, name, subresource = (*rest, "", "", "")[:3]
    info = replace(
        info, namespace=namespace, resource=resource, name=name, subresource="/".join(rest[2:]) or subresource
    )
    info = replace(info, verb=_verb(method, name, query))
    if not name and info.verb in ("list", "watch", "deletecollection"):
        # Rights to single objects cover a list that selects just one of them.
        info = replace(info, name=_selected_name(query.get("fieldSelector", "")))
    return info


def _selected_name(selector: str) -> str:
    for clause in selector.split(","):
        path, _, value = clause.replace("==", "=").partition("=")
        if path.strip() == "metadata.name":
            return value.strip()
    return ""


def _verb(method: str, name: str, query: Mapping[str, str]) -> str:
    if method in _WRITES:
        return _WRITES[method]
    if method == "DELETE":
        return "delete" if name else "deletecollection"
    if method not in ("GET", "HEAD"):
        return ""
    watching = query.get("watch", "") not in ("", "0", "false", "False", "FALSE", "f", "F")
    if watching and not name:
        return "watch"
    return "get" if name else "list"
