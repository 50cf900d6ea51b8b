"""Definitions without their plain schemas, which Go reads and writes as they are.

The schemas are most of a definition. What is about the rest of it, such as its managed fields, is computed
from the definition without them. Its versions are owned as a whole, whatever is in their schemas.
"""

from __future__ import annotations

from typing import Any

from crossply.apiserver.apiextensions.schema_survey import is_plain
from crossply.apply import Scope, update
from crossply.values import Object

_PLACEHOLDER: Object = {"type": "object"}
_OTHER_PLACEHOLDER: Object = {"type": "object", "description": "changed"}


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


def definition_with_managed_fields(
    old: Object | None, new: Object, scope: Scope, manager: str, now: str
) -> Object:
    """The definition with the managedFields that it has after a write; computed without its schemas."""
    small_old: Object | None
    if old is not None and old.get("spec") is new.get("spec"):  # as after a write of the status
        small_old, small = {**old, "spec": {}}, {**new, "spec": {}}
    else:
        small_old = None if old is None else without_plain_schemas(old)
        small = without_plain_schemas(new, other_than=old)
    recorded = update(small_old, small, scope, manager, now)
    return {**recorded, "spec": new["spec"]} if "spec" in new else recorded
