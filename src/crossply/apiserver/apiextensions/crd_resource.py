"""The resource that a CustomResourceDefinition defines."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from crossply.apiserver.served_resources import Column, LazySchema, Names, Resource, ScalePaths, Version
from crossply.values import Object

_CREATED = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not "
    "guaranteed to be set in happens-before order across separate operations. Clients may not set this "
    "value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for "
    "lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)
_AGE = Column("Age", "date", ".metadata.creationTimestamp", description=_CREATED)


Source = Callable[[str], LazySchema]
"""Where the schema of a version is to be taken from."""


def resource_from(definition: Object, source: Source | None = None, digest: bytes = b"") -> Resource:
    """The resource of a definition with accepted names; without a source, it holds the decoded schemas."""
    spec = definition["spec"]
    accepted = (definition.get("status") or {}).get("acceptedNames") or {}
    versions = {version["name"]: _version(version, spec, source) for version in spec["versions"]}
    storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
    conversion = spec.get("conversion") or {}
    return Resource(
        group=spec["group"],
        names=_names(accepted if accepted.get("plural") else spec["names"]),
        namespaced=spec["scope"] == "Namespaced",
        versions=versions,
        storage_version=storage,
        custom=True,
        conversion=conversion if conversion.get("strategy") == "Webhook" else None,
        preserve_unknown=bool(spec.get("preserveUnknownFields")),
        since=int(definition["metadata"].get("resourceVersion") or 0),
        digest=digest,
    )


def _names(names: Object) -> Names:
    return Names(
        names["plural"],
        names.get("kind") or "",
        names.get("singular") or "",
        names.get("listKind") or "",
        tuple(names.get("shortNames") or ()),
        _shared(tuple(names.get("categories") or ())),
    )


def _version(version: Object, spec: Object, source: Source | None) -> Version:
    subresources = version.get("subresources") or {}
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    return Version(
        name=version["name"],
        schema_source=schema if source is None or schema is None else source(version["name"]),
        served=bool(version.get("served")),
        subresources=_shared(
            frozenset(key for key in ("status", "scale") if subresources.get(key) is not None)
        ),
        scale=_scale(subresources.get("scale")),
        columns=_shared(tuple(map(_column, version.get("additionalPrinterColumns") or ())) or (_AGE,)),
        selectable_fields=tuple(
            field["jsonPath"].removeprefix(".") for field in version.get("selectableFields") or ()
        ),
        deprecation_warning=_warning(version, spec),
    )


_T = TypeVar("_T", bound=Hashable)


@functools.lru_cache(maxsize=1024)
def _shared_value(value: Hashable) -> Hashable:
    return value


def _shared(value: _T) -> _T:
    """An equal value that other definitions have, too: the columns of a provider's kinds are the same."""
    return cast(_T, _shared_value(value))


def _scale(scale: Object | None) -> ScalePaths | None:
    if scale is None:
        return None
    return ScalePaths(
        scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath") or ""
    )


def _column(column: Object) -> Column:
    return Column(
        column["name"],
        column["type"],
        column["jsonPath"],
        column.get("format") or "",
        column.get("description") or "",
        column.get("priority") or 0,
    )


def _warning(version: Object, spec: Object) -> str:
    """The warning for clients of a deprecated version: its author's, or which version to use instead."""
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning") is not None:
        return str(version["deprecationWarning"])
    group, kind = spec["group"], spec["names"]["kind"]
    message = f"{group}/{version['name']} {kind} is deprecated"
    better = [
        other["name"]
        for other in spec["versions"]
        if other.get("served") and not other.get("deprecated")
        if version_rank(other["name"]) > version_rank(version["name"])
    ]
    return f"{message}; use {group}/{max(better, key=version_rank)} {kind}" if better else message


_KUBERNETES_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STAGES = {"alpha": 0, "beta": 1, None: 2}


def version_rank(name: str) -> tuple[int, int, int, tuple[int, ...]]:
    """The rank of a version in Kubernetes' order: v2, v1, v1beta1, then others alphabetically."""
    match = _KUBERNETES_VERSION.fullmatch(name)
    if match is None:
        # Of names of any other form, the one that sorts first ranks highest.
        return -1, 0, 0, tuple(-ord(char) for char in name)
    return _STAGES[match[2]], int(match[1]), int(match[3] or 0), ()
