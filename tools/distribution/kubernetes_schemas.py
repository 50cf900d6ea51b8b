"""Schemas of Kubernetes' kinds for kubeconform, from the OpenAPI document in the Go module of Kubernetes."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from distribution.paths import ROOT

_MODULE = os.path.join(ROOT, "tests", "cluster")
_ANY_TYPE = (
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
)
LOCATION = "{{.ResourceKind}}{{.KindSuffix}}.json"


def write_schemas(directory: str) -> str:
    """Write a schema for each kind, in which unknown fields are errors; where kubeconform finds them."""
    with open(_swagger(), encoding="utf-8") as file:
        definitions = json.load(file)["definitions"]
    strict = {name: _strict(name, schema) for name, schema in definitions.items()}
    os.makedirs(directory, exist_ok=True)
    _write(os.path.join(directory, "definitions.json"), {"definitions": strict})
    for name, schema in definitions.items():
        for kind in schema.get("x-kubernetes-group-version-kind") or ():
            group = f"-{kind['group'].split('.')[0]}" if kind["group"] else ""
            file_name = f"{kind['kind']}{group}-{kind['version']}.json".lower()
            _write(os.path.join(directory, file_name), {"$ref": f"definitions.json#/definitions/{name}"})
    return os.path.join(directory, LOCATION)


def _swagger() -> str:
    """The OpenAPI document of the Kubernetes that the tests run on."""
    # `go list` names no directory where the module was not fetched before.
    command = ["go", "mod", "download", "-json", "k8s.io/kubernetes"]
    done = subprocess.run(command, cwd=_MODULE, stdout=subprocess.PIPE, text=True, check=True)
    return os.path.join(json.loads(done.stdout)["Dir"], "api", "openapi-spec", "swagger.json")


def _strict(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    if name in _ANY_TYPE:
        return {"type": ["string", "integer", "number"]}
    changed = {key: value for key, value in schema.items() if not key.startswith("x-")}
    if "properties" in schema:
        changed["properties"] = {key: _property(value) for key, value in schema["properties"].items()}
        # A schema of a CustomResourceDefinition may have any of OpenAPI's words.
        changed.setdefault("additionalProperties", name.endswith("JSONSchemaProps"))
    return changed


def _property(schema: dict[str, Any]) -> dict[str, Any]:
    """A field, which may be null as the API server takes it. Formats are Go's and not checked."""
    changed = {key: value for key, value in schema.items() if key != "format" and not key.startswith("x-")}
    if isinstance(changed.get("type"), str):
        changed["type"] = [changed["type"], "null"]
    return changed


def _write(path: str, content: dict[str, Any]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)
