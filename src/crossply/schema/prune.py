"""Drop or list the fields that a structural schema does not define.

An API server prunes what a schema does not mention; `validate` reports it instead. Both walk the same way,
so what is reported is exactly what would be lost.
"""

from __future__ import annotations

from typing import Any

from crossply.values import Object

_TYPE_FIELDS = ("apiVersion", "kind", "metadata")


def prune(value: Object, schema: Object) -> Object:
    """Return an object without the fields that its schema does not specify.

    The root counts as a resource: apiVersion, kind and metadata always stay.
    """
    pruned: Object = _Walk().resource(value, schema)
    return pruned


def unknown_fields(value: Object, schema: Object) -> list[str]:
    """Return the sorted paths of the fields that pruning would drop."""
    walk = _Walk()
    walk.resource(value, schema)
    return sorted(walk.dropped)


class _Walk:
    """One walk through a value; collects the paths of what it drops."""

    __slots__ = ("dropped",)

    def __init__(self) -> None:
        self.dropped: list[str] = []

    def resource(self, value: Any, schema: Object) -> Any:
        return self._known(value, {**schema, "x-kubernetes-embedded-resource": True}, "")

    def _known(self, value: Any, schema: Object | None, path: str) -> Any:
        if isinstance(value, dict):
            return self._object(value, schema, path)
        if isinstance(value, list):
            if schema is not None and schema.get("x-kubernetes-preserve-unknown-fields"):
                return [self._preserved_item(item, schema, f"{path}[{i}]") for i, item in enumerate(value)]
            items = schema.get("items") if schema else None
            return [self._known(item, items, f"{path}[{i}]") for i, item in enumerate(value)]
        return value

    def _preserved_item(self, value: Any, schema: Object, path: str) -> Any:
        # Items of a list that preserves unknown fields are preserved too, whatever their own schema says.
        items = schema.get("items")
        if items is None:
            return value
        return self._known(value, {**items, "x-kubernetes-preserve-unknown-fields": True}, path)

    def _object(self, value: Object, schema: Object | None, path: str) -> Object:
        if schema is None:
            self.dropped.extend(_child(path, name) for name in value)
            return {}
        members = {}
        for name, member in value.items():
            if self._is_known(name, schema, path):
                members[name] = self._member(name, member, schema, _child(path, name))
        return members

    def _is_known(self, name: str, schema: Object, path: str) -> bool:
        if name in (schema.get("properties") or {}) or schema.get("additionalProperties") is not None:
            return True
        if schema.get("x-kubernetes-preserve-unknown-fields"):
            return True
        if name in _TYPE_FIELDS and schema.get("x-kubernetes-embedded-resource"):
            return True
        self.dropped.append(_child(path, name))
        return False

    def _member(self, name: str, member: Any, schema: Object, path: str) -> Any:
        if name in _TYPE_FIELDS and schema.get("x-kubernetes-embedded-resource"):
            return member
        properties = schema.get("properties") or {}
        if name in properties:
            return self._known(member, properties[name], path)
        others = schema.get("additionalProperties")
        if others is None:
            return member
        return self._known(member, others if isinstance(others, dict) else None, path)


def _child(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
