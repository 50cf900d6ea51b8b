"""Objects inside objects: what `x-kubernetes-embedded-resource` asks of them beyond their schema."""

from __future__ import annotations

from typing import Any

from crossply.schema.field_errors import REQUIRED, FieldError
from crossply.values import Object

_EMBEDDED = "x-kubernetes-embedded-resource"


def check_embedded(value: Any, schema: Object | None, path: str = "") -> list[FieldError]:
    """Embedded objects must say what they are."""
    if not isinstance(schema, dict):
        return []
    errors: list[FieldError] = []
    if isinstance(value, list):
        for index, item in enumerate(value):
            errors += check_embedded(item, schema.get("items"), f"{path}[{index}]")
    elif isinstance(value, dict):
        if schema.get(_EMBEDDED):
            missing = [key for key in ("apiVersion", "kind") if not value.get(key)]
            errors += [FieldError(REQUIRED, f"{path}.{key}", "", "") for key in missing]
        properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, member in value.items():
            errors += check_embedded(member, properties.get(name, others), f"{path}.{name}" if path else name)
    return errors
