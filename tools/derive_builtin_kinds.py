"""Derive the structure of the built-in kinds from a running kube-apiserver.

    KUBECONFIG=... python tools/derive_builtin_kinds.py --go-modules "$(go env GOMODCACHE)/k8s.io"

Writes src/crossply/apiserver/builtin/kinds.json: what resources there are (from discovery), the columns of
their tables, what their objects are made of (from OpenAPI v3: types, formats, required fields, list and map
types; no texts), and how Go writes each field (from the declarations of the structs: is it a pointer, is it
left out when empty).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "src/crossply/apiserver/builtin/kinds.json"
VERSION = "v0.36.3"

SERVED = {
    "": ("v1",),
    "admissionregistration.k8s.io": ("v1",),
    "apiextensions.k8s.io": ("v1",),
    "apiregistration.k8s.io": ("v1",),
    "apps": ("v1",),
    "authentication.k8s.io": ("v1",),
    "authorization.k8s.io": ("v1",),
    "autoscaling": ("v1", "v2"),
    "batch": ("v1",),
    "certificates.k8s.io": ("v1",),
    "coordination.k8s.io": ("v1",),
    "discovery.k8s.io": ("v1",),
    "events.k8s.io": ("v1",),
    "networking.k8s.io": ("v1",),
    "node.k8s.io": ("v1",),
    "policy": ("v1",),
    "rbac.authorization.k8s.io": ("v1",),
    "scheduling.k8s.io": ("v1",),
    "storage.k8s.io": ("v1",),
}
"""Groups and versions that the embedded server serves."""

UNSERVED = {
    "bindings",
    "componentstatuses",
    "ipaddresses",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "servicecidrs",
}
"""Resources that mean nothing without nodes and a network."""

SUBRESOURCES = {"status", "scale", "finalize", "token", "approval"}
"""Subresources that mean something without nodes."""

TOP_LEVEL = (
    "io.k8s.api.autoscaling.v1.Scale",
    "io.k8s.api.authentication.v1.TokenRequest",
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
    "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
    "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent",
)
"""Definitions that are needed besides those of the kinds."""

SCHEMA_FIELDS = (
    "type",
    "format",
    "required",
    "enum",
    "oneOf",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-group-version-kind",
    "x-kubernetes-unions",
)

PACKAGES = {
    "io.k8s.api": f"api@{VERSION}",
    "io.k8s.apimachinery": f"apimachinery@{VERSION}",
    "io.k8s.apiextensions-apiserver": f"apiextensions-apiserver@{VERSION}",
    "io.k8s.kube-aggregator": f"kube-aggregator@{VERSION}",
}

# What a Go field is, where the schema does not tell: see builtin/go_fields.py, which reads these.
POINTER, ALWAYS, VALUE, OMIT_ZERO = "*", "!", "=", "0"


def main() -> None:
    """Ask the server and the Go modules, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--go-modules", type=Path, required=True, help="the k8s.io directory of a module cache"
    )
    options = parser.parse_args()
    server = Server()
    try:
        every, resources = ask(server)
    finally:
        server.close()
    kinds = {(row["group"], row["version"], row["kind"]) for row in resources}
    roots = {*TOP_LEVEL, *(name for name in every if kinds & kinds_of(every[name]))}
    definitions = closure(every, roots)
    go = GoSource(options.go_modules)
    table = {
        "resources": resources,
        "definitions": {name: compact(definitions[name]) for name in sorted(definitions)},
        "go": go_facts(definitions, go),
    }
    TARGET.write_text(json.dumps(table, separators=(",", ":"), sort_keys=True) + "\n")


def ask(server: Server) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """All definitions and all resources."""
    every: dict[str, Any] = {}
    for group, versions in SERVED.items():
        for version in versions:
            every.update(openapi(server, group, version)["components"]["schemas"])
    return every, [row for group in discovery_groups(server) for row in group_rows(server, group)]


class Server:
    """The server that kubectl is configured for."""

    def __init__(self) -> None:
        self._proxy = subprocess.Popen(["kubectl", "proxy", "--port=0"], stdout=subprocess.PIPE, text=True)
        assert self._proxy.stdout is not None
        self._url = "http://" + self._proxy.stdout.readline().split()[-1]

    def get(self, path: str, accept: str = "application/json") -> Any:
        """What the server answers to a GET."""
        request = urllib.request.Request(self._url + path, headers={"Accept": accept})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def close(self) -> None:
        """End the proxy."""
        self._proxy.terminate()
        self._proxy.wait()


def prefix(group: str) -> str:
    """Where a group is served."""
    return f"apis/{group}" if group else "api"


def openapi(server: Server, group: str, version: str) -> Any:
    """The OpenAPI v3 document of a group and version."""
    return server.get(f"/openapi/v3/{prefix(group)}/{version}")


def discovery_groups(server: Server) -> list[tuple[str, str]]:
    """Groups and versions in the server's own order."""
    groups = [("", "v1")]
    for group in server.get("/apis")["groups"]:
        served = SERVED.get(group["name"], ())
        groups += [
            (group["name"], version["version"])
            for version in group["versions"]
            if version["version"] in served
        ]
    return groups


def group_rows(server: Server, group_version: tuple[str, str]) -> list[dict[str, Any]]:
    """The resources of one group and version, with their subresources."""
    group, version = group_version
    rows: dict[str, dict[str, Any]] = {}
    listed = server.get(f"/{prefix(group)}/{version}")["resources"]
    for listed_resource in sorted(listed, key=lambda resource: resource["name"].count("/")):
        plural, _, subresource = listed_resource["name"].partition("/")
        if plural in UNSERVED:
            continue
        if not subresource:
            rows[plural] = resource_row(group, version, listed_resource)
            if "list" in listed_resource["verbs"]:
                rows[plural]["columns"] = columns(server, f"/{prefix(group)}/{version}/{plural}")
        elif subresource in SUBRESOURCES:
            row = {"verbs": listed_resource["verbs"]}
            if listed_resource.get("group") or listed_resource["kind"] != rows[plural]["kind"]:
                row["kind"] = [
                    listed_resource.get("group", group),
                    listed_resource.get("version", version),
                    listed_resource["kind"],
                ]
            rows[plural].setdefault("subresources", {})[subresource] = row
    return list(rows.values())


def columns(server: Server, path: str) -> list[list[Any]]:
    """Name, type, format and priority of the columns of a resource's table."""
    table = server.get(path + "?limit=1", "application/json;as=Table;v=v1;g=meta.k8s.io")
    return [
        [column["name"], column["type"], column["format"], column["priority"]]
        for column in table["columnDefinitions"]
    ]


def resource_row(group: str, version: str, resource: dict[str, Any]) -> dict[str, Any]:
    """One resource of discovery."""
    row = {
        "group": group,
        "version": version,
        "plural": resource["name"],
        "kind": resource["kind"],
        "singular": resource["singularName"],
        "namespaced": resource["namespaced"],
        "verbs": resource["verbs"],
        "shortNames": resource.get("shortNames"),
        "categories": resource.get("categories"),
        "storageVersionHash": resource.get("storageVersionHash"),
    }
    return {key: value for key, value in row.items() if value is not None}


def kinds_of(schema: dict[str, Any]) -> set[tuple[str, str, str]]:
    """The kinds that a definition describes; a list counts as the kind that it lists."""
    return {
        (kind["group"], kind["version"], kind["kind"].removesuffix("List"))
        for kind in schema.get("x-kubernetes-group-version-kind", ())
    }


def closure(every: dict[str, Any], roots: set[str]) -> dict[str, Any]:
    """The definitions that the roots refer to, and so on."""
    reached: dict[str, Any] = {}
    waiting = sorted(roots)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = every[name]
            waiting += references(every[name])
    return reached


def references(schema: Any) -> list[str]:
    """Names that a schema refers to."""
    if isinstance(schema, list):
        return [name for part in schema for name in references(part)]
    if not isinstance(schema, dict):
        return []
    below = [name for value in schema.values() for name in references(value)]
    return below + ([ref_name(schema["$ref"])] if isinstance(schema.get("$ref"), str) else [])


def ref_name(ref: str) -> str:
    """The name that a reference ends in."""
    return ref.rpartition("/")[2]


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """The structure of a schema, without texts and without Go's zero values."""
    small = {key: schema[key] for key in SCHEMA_FIELDS if key in schema}
    if schema.get("default") not in ({}, "", 0, False, None):
        small["default"] = schema["default"]
    alone = schema.get("allOf", [schema])[0].get("$ref")
    if alone:
        small["$ref"] = ref_name(alone)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            small[key] = compact(schema[key])
    if "properties" in schema:
        small["properties"] = {name: compact(member) for name, member in schema["properties"].items()}
    return small


class GoSource:
    """Struct declarations of Go packages, read as text."""

    _STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.M | re.S)
    _FIELD = re.compile(r'^\t(?:(\w+)\s+)?(\S+)\s+`[^`]*json:"([^"]*)"', re.M)

    def __init__(self, modules: Path) -> None:
        self._modules = modules
        self._packages: dict[Path, dict[str, str]] = {}

    def fields(self, definition: str) -> dict[str, tuple[str, str]]:
        """JSON names of a struct's fields → (Go type, options of the tag)."""
        prefix = next(
            package
            for package in sorted(PACKAGES, key=len, reverse=True)
            if definition.startswith(package + ".")
        )
        *path, name = definition.removeprefix(prefix + ".").split(".")
        return self._fields(self._modules / PACKAGES[prefix] / "/".join(path), name)

    def _fields(self, package: Path, name: str) -> dict[str, tuple[str, str]]:
        fields: dict[str, tuple[str, str]] = {}
        for field, go_type, tag in self._FIELD.findall(self._structs(package).get(name, "")):
            json_name, _, options = tag.partition(",")
            if json_name == "-":
                continue
            if json_name or (field and "inline" not in options):
                fields[json_name or field] = (go_type, options)
            elif "." not in go_type:
                fields.update(self._fields(package, go_type))
        return fields

    def _structs(self, package: Path) -> dict[str, str]:
        if package not in self._packages:
            texts = "".join(
                path.read_text() for path in sorted(package.glob("*.go")) if "_test" not in path.name
            )
            self._packages[package] = dict(self._STRUCT.findall(texts))
        return self._packages[package]


def go_facts(definitions: dict[str, Any], go: GoSource) -> dict[str, dict[str, str]]:
    """How Go writes the fields that it does not write in the usual way."""
    facts = {}
    for name in sorted(definitions):
        fields = go.fields(name)
        codes = {}
        for member, schema in definitions[name].get("properties", {}).items():
            if member in ("apiVersion", "kind") and member not in fields:
                continue  # of the embedded TypeMeta
            code = field_code(resolved(schema, definitions), *fields[member])
            if code:
                codes[member] = code
        if codes:
            facts[name] = codes
    return facts


def resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema that a reference means."""
    ref = schema.get("allOf", [schema])[0].get("$ref")
    target: dict[str, Any] = definitions[ref_name(ref)] if ref else schema
    return target


def field_code(schema: dict[str, Any], go_type: str, options: str) -> str:
    """What is unusual about a field: see go_fields.py."""
    pointer = go_type.startswith("*")
    omits = "omitempty" in options
    if schema.get("properties") or (schema.get("type") == "object" and "additionalProperties" not in schema):
        if pointer:
            return "" if omits else POINTER + ALWAYS
        return OMIT_ZERO if "omitzero" in options else VALUE
    if schema.get("type") in ("array", "object"):
        return (POINTER if pointer else "") + ("" if omits else ALWAYS)
    if "omitzero" in options:
        return OMIT_ZERO
    return (POINTER if pointer else "") + ("" if omits else ALWAYS)


if __name__ == "__main__":
    main()
