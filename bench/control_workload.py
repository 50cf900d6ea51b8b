"""What the control plane is measured with: one step of patch-and-transform makes three ConfigMaps."""

from __future__ import annotations

from crossply.kube.kind import Kind
from crossply.values import Object

GROUP = "bench.example.org"
APP = Kind(GROUP, "v1", "App", "apps", True)
DEFINITION = Kind(
    "apiextensions.crossplane.io", "v2", "CompositeResourceDefinition", "compositeresourcedefinitions", False
)
COMPOSITION = Kind("apiextensions.crossplane.io", "v1", "Composition", "compositions", False)
FUNCTION = Kind("pkg.crossplane.io", "v1", "Function", "functions", False)
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)
NAMESPACE = "default"
PARTS = ("one", "two", "three")


def definition() -> Object:
    text = {"type": "string"}
    spec = {"type": "object", "properties": {"size": text, "region": text}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    version = {"name": "v1", "served": True, "referenceable": True, "schema": schema}
    names = {"kind": APP.kind, "plural": APP.plural}
    return _object(
        DEFINITION, f"{APP.plural}.{GROUP}", group=GROUP, names=names, scope="Namespaced", versions=[version]
    )


def composition() -> Object:
    inputs = {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "resources": [_part(part) for part in PARTS],
    }
    step = {"step": "compose", "functionRef": {"name": "function-patch-and-transform"}, "input": inputs}
    type_ = {"apiVersion": APP.api_version, "kind": APP.kind}
    return _object(COMPOSITION, "apps", compositeTypeRef=type_, mode="Pipeline", pipeline=[step])


def function() -> Object:
    package = "xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform:v0.10.0"
    return _object(FUNCTION, "function-patch-and-transform", package=package)


def app(number: int, size: str = "small") -> Object:
    """One composite resource."""
    metadata = {"name": name(number), "namespace": NAMESPACE}
    spec = {"size": size, "region": "here"}
    return {"apiVersion": APP.api_version, "kind": APP.kind, "metadata": metadata, "spec": spec}


def name(number: int) -> str:
    return f"app-{number:05}"


def _part(part: str) -> Object:
    patches = [
        {"type": "FromCompositeFieldPath", "fromFieldPath": f"spec.{key}", "toFieldPath": f"data.{key}"}
        for key in ("size", "region")
    ]
    base = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"part": part}}
    return {"name": part, "base": base, "patches": patches, "readinessChecks": [{"type": "None"}]}


def _object(kind: Kind, name: str, **spec: object) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "spec": spec}
