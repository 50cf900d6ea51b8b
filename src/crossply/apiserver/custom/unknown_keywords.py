"""Keywords in schemas that do not exist: they are dropped, and the author is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.apiserver.custom.go_values import rule_keys, schema_keys
from crossply.values import Object


def unknown_keywords(definition: Object) -> list[str]:
    """The paths of unknown keywords in the schemas of a definition as it came in.

    What is inside `items` and `additionalProperties` is not told: Go reads those by types of their own, which
    are never strict.
    """
    found: list[str] = []
    spec = definition.get("spec")
    versions = spec.get("versions") if isinstance(spec, dict) else None
    for index, version in enumerate(versions if isinstance(versions, list) else ()):
        schema = version.get("schema") if isinstance(version, dict) else None
        if isinstance(schema, dict):
            path = f"spec.versions[{index}].schema.openAPIV3Schema"
            found += _in_schema(schema.get("openAPIV3Schema"), path)
    return found


def _in_schema(schema: Any, path: str) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    yield from (f"{path}.{key}" for key in schema if key not in schema_keys())
    yield from _in_schema(schema.get("not"), f"{path}.not")
    for key in ("properties", "patternProperties", "definitions"):
        members = schema.get(key)
        if isinstance(members, dict):
            for name, member in members.items():
                yield from _in_schema(member, f"{path}.{key}.{name}")
    for key in ("allOf", "anyOf", "oneOf"):
        for index, branch in enumerate(_list(schema.get(key))):
            yield from _in_schema(branch, f"{path}.{key}[{index}]")
    for index, rule in enumerate(_list(schema.get("x-kubernetes-validations"))):
        if isinstance(rule, dict):
            at = f"{path}.x-kubernetes-validations[{index}]"
            yield from (f"{at}.{key}" for key in rule if key not in rule_keys())


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
