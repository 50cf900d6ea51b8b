"""The kro library as a peer: the program in tests/functions/kro/peer, which gets cases in the form of kro.

function-kro v0.3.0 embeds kro v0.9.0 and changes little of it. What it changes is undone here: kro puts the
composite's namespace on resources, builds its schema from its own notation, and has other words for
failures in the status.
"""

from __future__ import annotations

import json
import subprocess
from types import TracebackType
from typing import Any

from crossply.functions.builtin.kro.kinds import Kind
from crossply.values.api_version import split_api_version
from crossply.values.protobuf_struct import to_wire
from tests.support.kro.cases import COMPOSITE, composite_of

Object = dict[str, Any]

_WORDS = (
    (
        "failed to build instance status schema: failed to type-check",
        "failed to build instance node: failed to compile",
    ),
    ("failed to build instance status schema: ", "failed to build instance node: "),
    ("failed to create instance node: ", "failed to build instance node: "),
)


class Peer:
    """A running program, which answers one case after the other."""

    def __init__(self, program: str, schemas: dict[Kind, Object]) -> None:
        self._schemas = schemas
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.communicate()

    def ask(self, case: Object) -> Object:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(self._question(case)) + "\n")
        self._process.stdin.flush()
        return _as_function_kro(case, json.loads(self._process.stdout.readline()))

    def _question(self, case: Object) -> Object:
        types: Object = {}
        spec = self._schemas[COMPOSITE]["properties"]["spec"]
        group, version = split_api_version(COMPOSITE.api_version)
        schema = {
            "group": group,
            "apiVersion": version,
            "kind": COMPOSITE.kind,
            "spec": simple_schema(spec, types),
            "types": types,
            "status": case.get("status", {}),
        }
        return {
            "definition": {
                "metadata": {"name": "case"},
                "spec": {"schema": schema, "resources": case["resources"]},
            },
            "kinds": [self._kind(kind) for kind in self._schemas if kind != COMPOSITE],
            "composite": composite_of(case),
            "observed": case.get("observed", {}),
            "external": {name: items for name, items in case.get("external", {}).items() if items},
            "omit": True,
        }

    def _kind(self, kind: Kind) -> Object:
        group, version = split_api_version(kind.api_version)
        return {"group": group, "version": version, "kind": kind.kind, "schema": self._schemas[kind]}


def simple_schema(schema: Object, types: Object) -> Any:
    """An OpenAPI schema in kro's own notation; objects inside of lists and maps become named types."""
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return "object"
    kind = schema["type"]
    if kind == "object" and "properties" in schema:
        return {name: simple_schema(part, types) for name, part in schema["properties"].items()}
    if kind == "object":
        return f"map[string]{_named(schema['additionalProperties'], types)}"
    if kind == "array":
        return f"[]{_named(schema['items'], types)}"
    return {"number": "float"}.get(kind, kind)


def _named(schema: Object, types: Object) -> str:
    inner = simple_schema(schema, types)
    if isinstance(inner, str):
        return inner
    name = f"Type{len(types)}"
    types[name] = inner
    return name


def _as_function_kro(case: Object, answer: Object) -> Object:
    if "error" in answer:
        for before, after in _WORDS:
            answer["error"] = answer["error"].replace(before, after)
        return {"error": answer["error"]}
    templates = {resource["id"]: resource for resource in case["resources"]}
    for name, resource in answer.get("resources", {}).items():
        metadata = _metadata(templates, name)
        if "namespace" not in metadata:
            resource["object"]["metadata"].pop("namespace", None)
    for name, selector in answer.get("selectors", {}).items():
        external = templates[name]["externalRef"]["metadata"]
        if "namespace" not in external and "selector" in external:
            selector.pop("namespace", None)
    wired: Object = to_wire({key: answer.get(key) or {} for key in ("resources", "status", "selectors")})
    return wired


def _metadata(templates: dict[str, Object], name: str) -> Object:
    """The metadata of the template of a resource, which may be one of a collection."""
    while name not in templates:
        name = name.rpartition("-")[0]
    metadata: Object = templates[name]["template"]["metadata"]
    return metadata
