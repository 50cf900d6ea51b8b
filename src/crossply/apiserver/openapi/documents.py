"""OpenAPI v3: one document per group version, and a tag of the content of each.

The tag comes from what a document is made of, so that an index with the tags of all documents can be sent
before any of them is built.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import orjson

from crossply.apiserver.builtin.kind_schema_table import definitions as built_in
from crossply.apiserver.openapi.definitions import (
    META,
    SCALE,
    custom_kind,
    definition_name,
    list_kind,
    with_parts,
)
from crossply.apiserver.openapi.operations import Operations
from crossply.apiserver.served_groups import Groups
from crossply.apiserver.served_resources import Resource
from crossply.values import Object
from crossply.version import __version__

_ALWAYS = tuple(f"{META}.{name}" for name in ("DeleteOptions", "ListMeta", "ObjectMeta", "Patch", "Status"))
_BUILT_IN = {"title": "Kubernetes", "version": "1.36"}
_CUSTOM = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}


def document(version: str, resources: list[Resource]) -> Object:
    return {
        "openapi": "3.0.0",
        "info": _CUSTOM if all(resource.custom for resource in resources) else _BUILT_IN,
        "paths": paths(version, resources),
        "components": {"schemas": dict(sorted(schemas(version, resources).items()))},
    }


def schemas(version: str, resources: list[Resource]) -> dict[str, Object]:
    """The schemas of some resources, with all that they refer to."""
    return {**with_parts(referred_schemas(version, resources)), **custom_schemas(version, resources)}


def referred_schemas(version: str, resources: list[Resource]) -> list[str]:
    """The names of the built-in schemas that the documents of some resources refer to."""
    needed = list(_ALWAYS)
    for resource in resources:
        at = resource.versions[version]
        if not resource.custom:
            name = definition_name(resource, at)
            needed += [candidate for candidate in (name, f"{name}List") if candidate in built_in()]
        if "scale" in at.subresources:
            needed.append(SCALE)
        if "token" in at.subresources:
            needed.append("io.k8s.api.authentication.v1.TokenRequest")
    return needed


def custom_schemas(version: str, resources: list[Resource]) -> dict[str, Object]:
    """The schemas of custom resources and of their lists."""
    own: dict[str, Object] = {}
    for resource in resources:
        if resource.custom:
            at = resource.versions[version]
            name = definition_name(resource, at)
            own[name] = custom_kind(resource, at)
            own[f"{name}List"] = list_kind(resource, at)
    return own


def paths(version: str, resources: list[Resource]) -> dict[str, Object]:
    """The paths of some resources, sorted."""
    result: dict[str, Object] = {}
    for resource in resources:
        result.update(Operations(resource, resource.versions[version]).paths())
    return dict(sorted(result.items()))


class GroupVersion(NamedTuple):
    name: str
    resources: list[Resource]
    tag: str
    weight: int
    """Of building its document, in bytes of JSON."""


def group_versions(groups: Groups) -> dict[str, GroupVersion]:
    """The versions of some groups by their place: `api/v1`, `apis/apps/v1`."""
    return {
        _place(group, version): _group_version(version, resources)
        for group, versions in groups.items()
        for version, resources in versions.items()
    }


def _place(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _group_version(version: str, resources: list[Resource]) -> GroupVersion:
    content = hashlib.sha512(f"{__version__} {version}".encode())
    for resource in resources:
        content.update(f"\n{resource.key} ".encode())
        if resource.custom:
            content.update(resource.digest or _digest(resource))
    weight = sum(resource.versions[version].schema_size for resource in resources)
    return GroupVersion(version, resources, content.hexdigest().upper(), weight)


def _digest(resource: Resource) -> bytes:
    """The digest of a resource without a stored definition."""
    schemas = {name: version.schema for name, version in resource.versions.items()}
    return hashlib.sha512(repr(resource).encode() + orjson.dumps(schemas)).digest()
