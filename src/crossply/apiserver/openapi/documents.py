"""OpenAPI v3: one document per group version."""

from __future__ import annotations

from crossply.apiserver.builtin.resource_table import definitions as built_in
from crossply.apiserver.openapi.definitions import (
    META,
    SCALE,
    custom_kind,
    definition_name,
    list_kind,
    with_parts,
)
from crossply.apiserver.openapi.operations import Operations
from crossply.apiserver.registry.resources import Resource
from crossply.values import Object

_ALWAYS = tuple(f"{META}.{name}" for name in ("DeleteOptions", "ListMeta", "ObjectMeta", "Patch", "Status"))
_BUILT_IN = {"title": "Kubernetes", "version": "1.36"}
_CUSTOM = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}


def document(version: str, resources: list[Resource]) -> Object:
    paths: dict[str, Object] = {}
    for resource in resources:
        paths.update(Operations(resource, resource.versions[version]).paths())
    return {
        "openapi": "3.0.0",
        "info": _CUSTOM if all(resource.custom for resource in resources) else _BUILT_IN,
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": dict(sorted(schemas(version, resources).items()))},
    }


def schemas(version: str, resources: list[Resource]) -> dict[str, Object]:
    """The schemas of some resources, with all that they refer to."""
    needed = list(_ALWAYS)
    own: dict[str, Object] = {}
    for resource in resources:
        at = resource.versions[version]
        name = definition_name(resource, at)
        if resource.custom:
            own[name] = custom_kind(resource, at)
            own[f"{name}List"] = list_kind(resource, at)
        else:
            needed += [candidate for candidate in (name, f"{name}List") if candidate in built_in()]
        if "scale" in at.subresources:
            needed.append(SCALE)
        if "token" in at.subresources:
            needed.append("io.k8s.api.authentication.v1.TokenRequest")
    return {**with_parts(needed), **own}
