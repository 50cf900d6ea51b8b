"""Derive how the built-in kinds look in protobuf from the Go modules of Kubernetes.

    python tools/derive_protobuf_messages.py --go-modules "$(go env GOMODCACHE)/k8s.io"

Writes src/crossply/apiserver/protobuf/messages.json: of every message that a served kind is made of, the
number, JSON name and type of each field (from generated.proto), and whether Go has a pointer there or embeds
the struct (from the declarations of the structs). Structure only, no texts.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

VERSION = "v0.36.3"
ROOT = Path(__file__).parent.parent
TARGET = ROOT / "src/crossply/apiserver/protobuf/messages.json"
KINDS = ROOT / "src/crossply/apiserver/builtin/kinds.json"

_FIELD = re.compile(r"^  (optional|repeated|required) \.?([\w.]+) (\w+) = (\d+);", re.M)
_MAP = re.compile(r"^  map<string, \.?([\w.]+)> (\w+) = (\d+);", re.M)
_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.M | re.S)
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.M | re.S)
_TAGGED = re.compile(
    r'^\s*(?:\w+\s+)?(\*?)[\w.\[\]*]+\s+`(?:json:"([^"]*)"[^`]*? )?protobuf:"\w+,(\d+),\w+(?:,name=(\w+))?',
    re.M,
)
_SCALARS = {"string", "bool", "int32", "int64", "double", "bytes"}


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--go-modules", required=True)
    modules = Path(parser.parse_args().go_modules)
    messages: dict[str, dict[str, list[str]]] = {}
    for module in ("api", "apimachinery", "apiextensions-apiserver", "kube-aggregator"):
        for file in sorted((modules / f"{module}@{VERSION}").rglob("generated.proto")):
            messages |= read_package(file)
    kinds = served_kinds(messages)
    used = reachable(messages, [*kinds.values(), f"{META}.DeleteOptions"])
    document = {"kinds": kinds, "messages": {name: messages[name] for name in sorted(used)}}
    TARGET.write_text(json.dumps(document, indent=0, sort_keys=True, separators=(",", ":")) + "\n")


META = "io.k8s.apimachinery.pkg.apis.meta.v1"
NOT_STORED = {
    "v1/Status": f"{META}.Status",
    "meta.k8s.io/v1/PartialObjectMetadata": f"{META}.PartialObjectMetadata",
    "meta.k8s.io/v1/PartialObjectMetadataList": f"{META}.PartialObjectMetadataList",
    "policy/v1/Eviction": "io.k8s.api.policy.v1.Eviction",
    "v1/Binding": "io.k8s.api.core.v1.Binding",
}
"""Kinds that are answered or asked for, but no resource's own."""


def read_package(file: Path) -> dict[str, dict[str, list[str]]]:
    """The messages of one generated.proto, named as OpenAPI names them."""
    text = file.read_text()
    package = re.search(r"^package ([\w.]+);", text, re.M).group(1)  # type: ignore[union-attr]
    go = read_structs(file.parent)
    messages = {}
    for name, body in _MESSAGE.findall(text):
        messages[openapi_name(f"{package}.{name}")] = read_message(package, body, go.get(name, {}))
    return messages


def read_message(package: str, body: str, go: dict[str, tuple[str, str]]) -> dict[str, list[str]]:
    """Fields by number: JSON name, type, and how it is held: `[]`, `{}`, `*` (pointer), `>` (embedded)."""
    body = re.sub(r"^\s*//.*\n", "", body, flags=re.M)
    fields = {}
    for label, kind, name, number in _FIELD.findall(body):
        json_name, pointer = go.get(number, (name, ""))
        container = "[]" if label == "repeated" else (">" if not json_name else pointer)
        fields[number] = [json_name or name, type_name(package, kind), container]
    for kind, name, number in _MAP.findall(body):
        fields[number] = [go.get(number, (name, ""))[0], type_name(package, kind), "{}"]
    return fields


def read_structs(directory: Path) -> dict[str, dict[str, tuple[str, str]]]:
    """Of each struct, the JSON name ("" = embedded) and `*` for a pointer, by protobuf number."""
    structs: dict[str, dict[str, tuple[str, str]]] = {}
    for file in directory.glob("*.go"):
        for name, body in _STRUCT.findall(file.read_text()):
            for pointer, tag, number, proto_name in _TAGGED.findall(body):
                json_name = tag.partition(",")[0] if tag else proto_name
                structs.setdefault(name, {})[number] = (json_name, pointer)
    return structs


def type_name(package: str, kind: str) -> str:
    """A type as the table names it."""
    if kind in _SCALARS:
        return kind
    return openapi_name(kind if "." in kind else f"{package}.{kind}")


def openapi_name(name: str) -> str:
    """`k8s.io.api.core.v1.Pod` as OpenAPI spells it."""
    name = name.replace("apiextensions_apiserver", "apiextensions-apiserver")
    return name.replace("kube_aggregator", "kube-aggregator").replace("k8s.io.", "io.k8s.", 1)


def served_kinds(messages: dict[str, dict[str, list[str]]]) -> dict[str, str]:
    """The message of each kind that is served, by `apiVersion/Kind`."""
    definitions = json.loads(KINDS.read_text())["definitions"]
    kinds = dict(NOT_STORED)
    for name, schema in definitions.items():
        for kind in schema.get("x-kubernetes-group-version-kind", ()):
            if name in messages and ".meta.v1." not in name:
                group = f"{kind['group']}/" if kind["group"] else ""
                kinds[f"{group}{kind['version']}/{kind['kind']}"] = name
    return kinds


def reachable(messages: dict[str, dict[str, list[str]]], start: list[str]) -> set[str]:
    """The messages that the first ones are made of."""
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name in reached or name in _SCALARS:
            continue
        reached.add(name)
        waiting += [kind for _, kind, _ in messages[name].values()]
    return reached


if __name__ == "__main__":
    main()
