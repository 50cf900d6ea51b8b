"""Reading the path of a request: which object, or which collection, it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

from crossply.compose.object_metadata import labels_of, name_of, namespace_of
from crossply.kube.kind import Kind
from crossply.values import Object


class ObjectKey(NamedTuple):
    """The identity of an object, whatever the requested version."""

    group: str
    plural: str
    namespace: str
    name: str


class ObjectPath(NamedTuple):
    """Where a request goes."""

    group: str
    version: str
    plural: str
    namespace: str
    name: str
    subresource: str

    @property
    def key(self) -> ObjectKey:
        """The object."""
        return ObjectKey(self.group, self.plural, self.namespace, self.name)


def key_of(kind: Kind, name: str, namespace: str = "") -> ObjectKey:
    """The key of an object of a kind."""
    return ObjectKey(kind.group, kind.plural, namespace if kind.namespaced else "", name)


def parse_path(path: str) -> ObjectPath | None:
    """What a path names; None where it is no object and no collection."""
    words = [unquote(word) for word in path.strip("/").split("/")]
    if words[0] == "api" and len(words) > 2:
        group, version, rest = "", words[1], words[2:]
    elif words[0] == "apis" and len(words) > 3:
        group, version, rest = words[1], words[2], words[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource, *_ = [*rest, "", ""]
    return ObjectPath(group, version, plural, namespace, name, subresource)


def is_selected(obj: Object, namespace: str, query: Mapping[str, str]) -> bool:
    """Whether a collection with these selectors has the object."""
    if namespace and namespace_of(obj) != namespace:
        return False
    return _labels_fit(labels_of(obj), query.get("labelSelector", "")) and _fields_fit(
        obj, query.get("fieldSelector", "")
    )


def _labels_fit(labels: Mapping[str, str], selector: str) -> bool:
    """Equality and existence: what Crossply itself asks for."""
    return all(_label_fits(labels, term.strip()) for term in selector.split(",") if term.strip())


def _label_fits(labels: Mapping[str, str], term: str) -> bool:
    for sign, equal in (("!=", False), ("==", True), ("=", True)):
        if sign in term:
            key, _, value = term.partition(sign)
            return (labels.get(key.strip()) == value.strip()) is equal
    return term[1:] not in labels if term.startswith("!") else term in labels


def _fields_fit(obj: Object, selector: str) -> bool:
    known = {"metadata.name": name_of(obj), "metadata.namespace": namespace_of(obj)}
    for term in filter(None, selector.split(",")):
        key, _, value = term.replace("==", "=").partition("=")
        if key in known and known[key] != value:
            return False
    return True
