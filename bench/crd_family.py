"""CustomResourceDefinitions like those of a large family of providers: many groups, long schemas.

Each definition has the fields of a managed resource: parameters in `forProvider` and `initProvider` with
nested blocks, references, selectors and secrets, what was observed in `atProvider`, descriptions everywhere,
and rules in CEL for the required parameters. The same number always makes the same definition. On average one
has 30 kB of JSON.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Schema = dict[str, Any]

_WORDS = """
access account address alias archive attribute backup bucket certificate cluster condition connection
container database default delivery domain duration encryption endpoint engine event expiration export
feature filter gateway group handler health host identity image index instance interval key label lambda
limit listener location logging maintenance mapping member message metric mode monitor network node
notification object option origin parameter partition password path permission plan policy pool port
prefix priority profile protocol proxy queue region replica request resource retention role route rule
schedule schema scope secret security server service session setting size snapshot source stack stage
storage stream subnet table tag target task template threshold timeout token topic trigger type user
validation value version volume webhook window zone
""".split()  # noqa: SIM905
_KINDS_A_GROUP = 12
_RESOLUTION = (
    "Whether an object that is not found is an error, or is looked for again at the next reconciliation."
)
_WHEN_RESOLVED = "When the reference is resolved: only while the field is empty, or at every reconciliation."


class Family(NamedTuple):
    """The place of a definition in its family."""

    group: str
    kind: str
    plural: str
    scope: str
    versions: tuple[str, ...]
    body: Schema


def definitions(count: int) -> Iterator[Family]:
    """The first definitions of the family."""
    for number in range(count):
        yield definition(number)


def definition(number: int) -> Family:
    """One definition; every fourth has two versions, every second is namespaced."""
    draw = random.Random(number)
    namespaced = number % 2 == 1
    service = _WORDS[number // _KINDS_A_GROUP % len(_WORDS)] + str(number // _KINDS_A_GROUP)
    group = f"{service}.{'m.' if namespaced else ''}cloud.example.org"
    kind = "".join(draw.choice(_WORDS).capitalize() for _ in range(2)) + str(number)
    plural = kind.lower() + "s"
    names = ("v1beta1", "v1beta2") if number % 4 == 0 else ("v1beta1",)
    fields = max(4, int(draw.lognormvariate(2.02, 0.62) / len(names) ** 0.5))
    versions = [_version(draw, name, fields, is_last=name == names[-1]) for name in names]
    scope = "Namespaced" if namespaced else "Cluster"
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {
                "categories": ["crossplane", "managed", "cloud"],
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
            },
            "scope": scope,
            "versions": versions,
        },
    }
    return Family(group, kind, plural, scope, names, body)


def instance(family: Family, name: str) -> Schema:
    """A custom resource that the rules of its definition accept."""
    version = family.versions[-1]
    schema = family.body["spec"]["versions"][-1]["schema"]["openAPIV3Schema"]
    properties = schema["properties"]["spec"]["properties"]["forProvider"]["properties"]
    parameters = {key: _value(member) for key, member in properties.items() if key != "region"}
    return {
        "apiVersion": f"{family.group}/{version}",
        "kind": family.kind,
        "metadata": {"name": name},
        "spec": {"forProvider": {"region": "north", **parameters}},
    }


def _value(schema: Schema) -> Any:
    kind = schema["type"]
    if kind == "array":
        return [_value(schema["items"])]
    if kind == "object":
        return {key: _value(member) for key, member in (schema.get("properties") or {}).items()}
    if "enum" in schema:
        return schema["enum"][0]
    return {"string": "x", "number": 1, "integer": 1, "boolean": True}[kind]


def _version(draw: random.Random, name: str, fields: int, is_last: bool) -> Schema:
    parameters = _fields(draw, fields, depth=3)
    required = draw.sample(sorted(parameters), min(3, len(parameters)))
    provided = {**_with_references(draw, parameters), "region": _scalar(draw, "string")}
    initial = _with_references(draw, parameters)
    observed = {"id": {"type": "string"}, "tagsAll": _map(draw), **parameters}
    spec: Schema = {
        "type": "object",
        "description": "The desired state.",
        "properties": {
            "deletionPolicy": {
                "type": "string",
                "default": "Delete",
                "enum": ["Orphan", "Delete"],
                "description": _text(draw, 40),
            },
            "forProvider": {"type": "object", "properties": provided, "required": ["region"]},
            "initProvider": {"type": "object", "description": _text(draw, 60), "properties": initial},
            "managementPolicies": {
                "type": "array",
                "default": ["*"],
                "description": _text(draw, 50),
                "items": {
                    "type": "string",
                    "enum": ["Observe", "Create", "Update", "Delete", "LateInitialize", "*"],
                },
            },
            "providerConfigRef": {**_reference(draw), "default": {"name": "default"}},
            "writeConnectionSecretToRef": _secret(draw),
        },
        "required": ["forProvider"],
        "x-kubernetes-validations": [_rule(field) for field in required],
    }
    status = {
        "type": "object",
        "description": "The observed state.",
        "properties": {
            "atProvider": {"type": "object", "properties": observed},
            "conditions": _conditions(draw),
            "observedGeneration": {"type": "integer", "format": "int64", "description": _text(draw, 15)},
        },
    }
    about = {"type": "string", "description": _text(draw, 45)}
    schema = {
        "type": "object",
        "description": _text(draw, 12),
        "properties": {
            "apiVersion": about,
            "kind": about,
            "metadata": {"type": "object"},
            "spec": spec,
            "status": status,
        },
        "required": ["spec"],
    }
    return {
        "name": name,
        "served": True,
        "storage": is_last,
        "subresources": {"status": {}},
        "additionalPrinterColumns": _columns(),
        "schema": {"openAPIV3Schema": schema},
    }


def _columns() -> list[Schema]:
    ready = ".status.conditions[?(@.type=='{}')].status"
    return [
        {"name": "SYNCED", "type": "string", "jsonPath": ready.format("Synced")},
        {"name": "READY", "type": "string", "jsonPath": ready.format("Ready")},
        {
            "name": "EXTERNAL-NAME",
            "type": "string",
            "jsonPath": ".metadata.annotations.crossplane\\.io/external-name",
        },
        {"name": "AGE", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]


def _rule(field: str) -> Schema:
    allowed = " || ".join(f"'{policy}' in self.managementPolicies" for policy in ("*", "Create", "Update"))
    there = f"has(self.forProvider.{field}) || (has(self.initProvider) && has(self.initProvider.{field}))"
    return {
        "rule": f"!({allowed}) || {there}",
        "message": f"spec.forProvider.{field} is a required parameter",
    }


def _fields(draw: random.Random, count: int, depth: int) -> dict[str, Schema]:
    fields: dict[str, Schema] = {}
    for _ in range(count):
        first, *others = draw.sample(_WORDS, draw.choice((1, 2, 2, 3)))
        fields[first + "".join(map(str.capitalize, others))] = _field(draw, depth)
    return fields


def _field(draw: random.Random, depth: int) -> Schema:
    if depth and draw.random() < 0.22:
        members = _fields(draw, draw.randint(2, 6), depth - 1)
        block = {"type": "object", "properties": members}
        if draw.random() < 0.5:
            return {**block, "description": _text(draw, 14)}
        return {"type": "array", "description": _text(draw, 14), "items": block}
    return draw.choice(_LEAVES)(draw)


def _scalar(draw: random.Random, kind: str) -> Schema:
    return {"type": kind, "description": _text(draw, 18)}


def _map(draw: random.Random) -> Schema:
    return {
        "type": "object",
        "description": _text(draw, 10),
        "additionalProperties": {"type": "string"},
        "x-kubernetes-map-type": "granular",
    }


def _strings(draw: random.Random) -> Schema:
    return {
        "type": "array",
        "description": _text(draw, 12),
        "items": {"type": "string"},
        "x-kubernetes-list-type": "set",
    }


_LEAVES: tuple[Callable[[random.Random], Schema], ...] = (
    *(
        lambda draw, kind=kind: _scalar(draw, kind)
        for kind in ("string", "string", "string", "number", "boolean")
    ),
    _strings,
    _map,
)


def _with_references(draw: random.Random, parameters: dict[str, Schema]) -> dict[str, Schema]:
    """The parameters; some can come from other objects or from secrets."""
    result = dict(parameters)
    for name in sorted(parameters)[:: draw.randint(3, 6)]:
        if parameters[name]["type"] == "string":
            result[f"{name}Ref"] = _reference(draw)
            result[f"{name}Selector"] = _selector(draw)
    if draw.random() < 0.2:
        result["passwordSecretRef"] = _secret(draw)
    return result


def _policy() -> Schema:
    return {
        "type": "object",
        "description": "Policies for referencing.",
        "properties": {
            "resolution": {
                "type": "string",
                "default": "Required",
                "description": _RESOLUTION,
                "enum": ["Required", "Optional"],
            },
            "resolve": {"type": "string", "description": _WHEN_RESOLVED, "enum": ["Always", "IfNotPresent"]},
        },
    }


def _reference(draw: random.Random) -> Schema:
    return {
        "type": "object",
        "description": _text(draw, 9),
        "properties": {
            "name": {"type": "string", "description": "Name of the referenced object."},
            "policy": _policy(),
        },
        "required": ["name"],
    }


def _selector(draw: random.Random) -> Schema:
    return {
        "type": "object",
        "description": _text(draw, 9),
        "properties": {
            "matchControllerRef": {"type": "boolean", "description": _text(draw, 14)},
            "matchLabels": {
                "type": "object",
                "description": _text(draw, 8),
                "additionalProperties": {"type": "string"},
            },
            "policy": _policy(),
        },
    }


def _secret(draw: random.Random) -> Schema:
    member = {"type": "string", "description": _text(draw, 6)}
    return {
        "type": "object",
        "description": _text(draw, 14),
        "properties": {"key": member, "name": member, "namespace": member},
        "required": ["name", "namespace"],
    }


def _conditions(draw: random.Random) -> Schema:
    texts = ("lastTransitionTime", "message", "reason", "status", "type")
    members: Schema = {name: {"type": "string", "description": _text(draw, 15)} for name in texts}
    members["lastTransitionTime"]["format"] = "date-time"
    return {
        "type": "array",
        "description": "Conditions of the resource.",
        "items": {
            "type": "object",
            "description": _text(draw, 8),
            "properties": members,
            "required": ["lastTransitionTime", "reason", "status", "type"],
        },
        "x-kubernetes-list-map-keys": ["type"],
        "x-kubernetes-list-type": "map",
    }


def _text(draw: random.Random, words: int) -> str:
    return (
        " ".join(draw.choice(_WORDS) for _ in range(draw.randint(words // 2, words * 3 // 2))).capitalize()
        + "."
    )
