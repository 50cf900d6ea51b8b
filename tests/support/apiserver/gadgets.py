"""A custom resource with all that discovery, OpenAPI and tables show, and a registry that serves it."""

from __future__ import annotations

from typing import Any

from crossply.apiserver import builtin
from crossply.apiserver.served_resources import Column, Names, Registry, Resource, ScalePaths, Version

SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "A gadget.",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "description": "What is wished.",
            "properties": {
                "size": {"type": "string", "enum": ["s", "m"], "default": "s"},
                "port": {"x-kubernetes-int-or-string": True},
                "note": {"type": "string", "nullable": True},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "inner": {"type": "object", "x-kubernetes-embedded-resource": True},
            },
        },
        "status": {"type": "object"},
    },
}


def gadgets(*columns: Column, custom_group: str = "example.org") -> Resource:
    stable = Version(
        "v1",
        SCHEMA,
        subresources=frozenset({"status", "scale"}),
        scale=ScalePaths(".spec.replicas", ".status.replicas"),
        columns=columns,
    )
    early = Version("v1beta1", {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    unserved = Version("v1alpha1", SCHEMA, served=False)
    names = Names("gadgets", "Gadget", "gadget", "GadgetList", ("gd",), ("all",))
    versions = {version.name: version for version in (unserved, early, stable)}
    return Resource(custom_group, names, True, versions, "v1", custom=True)


def registry(*resources: Resource) -> Registry:
    built = Registry()
    for resource in (*builtin.resources(), *resources):
        built.put(resource)
    return built
