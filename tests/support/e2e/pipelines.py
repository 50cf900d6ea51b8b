"""Steps of pipelines: the built-in functions, and functions that a test serves itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from crossply.compose.function_messages import Function
from crossply.functions.server import FunctionServer, ServerSettings
from crossply.values import Object
from tests.support.e2e.scenario import PATCH_AND_TRANSFORM, Scenario

AUTO_READY = "function-auto-ready"
DELETION_PROTECTION = "function-deletion-protection"
ENVIRONMENT_CONFIGS = "function-environment-configs"
EXTRA_RESOURCES = "function-extra-resources"
_REGISTRY = "xpkg.crossplane.io/crossplane-contrib"
_VERSIONS = {
    AUTO_READY: "v0.6.0",
    DELETION_PROTECTION: "v0.2.1",
    ENVIRONMENT_CONFIGS: "v0.5.0",
    EXTRA_RESOURCES: "v0.2.0",
}


def patch(source: str, target: str, type_: str = "FromCompositeFieldPath", **fields: Any) -> Object:
    """One patch."""
    return {"type": type_, "fromFieldPath": source, "toFieldPath": target, **fields}


def entry(name: str = "settings", *patches: Object, ready: str = "", **fields: Any) -> Object:
    """A resource of patch-and-transform: a ConfigMap by default; ready at once, or by a value of `data`."""
    check: Object = {"type": "None"}
    if ready:
        check = {"type": "MatchString", "fieldPath": "data.ready", "matchString": ready}
    base = {"apiVersion": "v1", "kind": "ConfigMap", **fields.pop("base", {})}
    return {"name": name, "base": base, "patches": list(patches), "readinessChecks": [check], **fields}


SIZE = patch("spec.size", "data.size")


def resources(*entries: Object, step: str = "compose") -> Object:
    """A step that composes these resources."""
    return {
        "step": step,
        "functionRef": {"name": PATCH_AND_TRANSFORM},
        "input": {
            "apiVersion": "pt.fn.crossplane.io/v1beta1",
            "kind": "Resources",
            "resources": list(entries),
        },
    }


async def builtin(s: Scenario, name: str, **fields: Any) -> Object:
    """A step that calls one of the other built-in functions."""
    await s.function(name, f"{_REGISTRY}/{name}:{_VERSIONS[name]}")
    return {"step": name, "functionRef": {"name": name}, **fields}


@contextlib.contextmanager
def served(function: Function) -> Iterator[str]:
    """A function of this test, served; its address."""
    server = FunctionServer("test", function, ServerSettings("127.0.0.1:0"))
    try:
        yield f"127.0.0.1:{server.port}"
    finally:
        server.stop()


async def calling(s: Scenario, address: str, step: str = "tell", **fields: Any) -> Object:
    """A step that calls the function at an address."""
    name = f"{s.id}-{step}"
    target = {
        "render.crossplane.io/runtime": "Development",
        "render.crossplane.io/runtime-development-target": address,
    }
    await s.function(name, "example.org/function:v1", **target)
    return {"step": step, "functionRef": {"name": name}, **fields}
