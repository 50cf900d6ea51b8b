"""Schemas that Go reads and writes as they are, which nearly all are: they need not be read like Go does.

The schemas are most of a definition. What is about the rest of it, such as its managed fields, is computed
from the definition without them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.values import Object

_INT64 = 2**63
_PLACEHOLDER: Object = {"type": "object"}
_OTHER_PLACEHOLDER: Object = {"type": "object", "description": "changed"}
_RULE_TEXTS = ("rule", "message", "messageExpression", "fieldPath")


def is_plain(schema: Any) -> bool:
    """Whether a schema has known keywords only, each with a value that Go neither refuses nor leaves out."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if type(node) is not dict:
            return False
        for key, value in node.items():
            if key in _TEXTS:
                if type(value) is not str or not value:
                    return False
            elif key == "properties":
                if type(value) is not dict or not value:
                    return False
                waiting += value.values()
            elif key == "items" or (key == "additionalProperties" and type(value) is not bool):
                waiting.append(value)
            elif key in _BRANCHES:
                if type(value) is not list or not value:
                    return False
                waiting += value
            elif not _OTHERS.get(key, _no)(value):
                return False
    return True


def _no(_: Any) -> bool:
    return False


def _is_texts(value: Any) -> bool:
    return type(value) is list and bool(value) and all(type(item) is str for item in value)


def _is_integer(value: Any) -> bool:
    return type(value) is int and -_INT64 <= value < _INT64


def _are_rules(value: Any) -> bool:
    if type(value) is not list or not value:
        return False
    texts = {rule.get("rule") for rule in value if type(rule) is dict and _is_rule(rule)}
    return len(texts) == len(value)


def _is_rule(rule: Object) -> bool:
    return "rule" in rule and all(
        type(value) is str and bool(value) if key in _RULE_TEXTS else _RULE_OTHERS.get(key, _no)(value)
        for key, value in rule.items()
    )


_TEXTS = frozenset({"type", "description", "format", "title", "pattern"})
_BRANCHES = frozenset({"allOf", "anyOf", "oneOf"})
_RULE_OTHERS: dict[str, Callable[[Any], bool]] = {
    "reason": lambda value: type(value) is str,
    "optionalOldSelf": lambda value: type(value) is bool,
}
_OTHERS: dict[str, Callable[[Any], bool]] = {
    "additionalProperties": lambda value: type(value) is bool,
    "default": lambda value: value is not None,
    "enum": lambda value: type(value) is list and bool(value),
    "required": _is_texts,
    "x-kubernetes-list-map-keys": _is_texts,
    "x-kubernetes-list-type": lambda value: type(value) is str,
    "x-kubernetes-map-type": lambda value: type(value) is str,
    "x-kubernetes-preserve-unknown-fields": lambda value: type(value) is bool,
    "x-kubernetes-validations": _are_rules,
    **{
        key: lambda value: value is True
        for key in ("nullable", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "uniqueItems")
    },
    **{
        key: _is_integer
        for bound in ("maximum", "Length", "Items", "Properties")
        for key in ([bound, "minimum"] if bound == "maximum" else [f"max{bound}", f"min{bound}"])
    },
}


def without_plain_schemas(definition: Object, other_than: Object | None = None) -> Object:
    """The definition with a small schema in place of each plain one.

    The small ones differ where the schemas differ from those of another definition.
    """
    before = _schemas(other_than) if other_than is not None else {}
    versions = _versions(definition)
    if versions is None:
        return definition
    replaced = []
    for version in versions:
        schema = _schema(version)
        if schema is None or not is_plain(schema):
            replaced.append(version)
            continue
        is_other = before.get(version.get("name"), schema) != schema
        small = _OTHER_PLACEHOLDER if is_other else _PLACEHOLDER
        replaced.append({**version, "schema": {**version["schema"], "openAPIV3Schema": small}})
    return {**definition, "spec": {**definition["spec"], "versions": replaced}}


def _versions(definition: Object) -> list[Any] | None:
    spec = definition.get("spec")
    versions = spec.get("versions") if type(spec) is dict else None
    return versions if type(versions) is list else None


def _schema(version: Any) -> Any:
    schema = version.get("schema") if type(version) is dict else None
    return schema.get("openAPIV3Schema") if type(schema) is dict else None


def _schemas(definition: Object) -> dict[Any, Any]:
    versions = _versions(definition) or ()
    return {version.get("name"): _schema(version) for version in versions if type(version) is dict}
