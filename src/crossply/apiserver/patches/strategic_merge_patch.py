"""Strategic merge patch: a merge patch that merges lists by key.

A schema says whether a list merges (`x-kubernetes-patch-strategy`) and by which key (`x-kubernetes-patch-
merge-key`). Directives in the patch express the rest: `$patch`, `$retainKeys`, `$deleteFromPrimitiveList/…`
and `$setElementOrder/…`.
"""

from __future__ import annotations

from typing import Any

import orjson

from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.cancellation import checkpoint
from crossply.values.goformat import sprintf

_PATCH, _RETAIN = "$patch", "$retainKeys"
_DELETE_PRIMITIVES, _ORDER = "$deleteFromPrimitiveList/", "$setElementOrder/"
_GO_TYPES = {bool: "bool", int: "int64", float: "float64", str: "string", dict: "map[string]interface {}"}


class StrategicPatchError(CrossplyError):
    """A strategic merge patch has an invalid directive."""

    code = "CP-641"

    def __init__(self, message: str, *, malformed: bool = False) -> None:
        """`malformed` says that a directive has the wrong form: Kubernetes answers that with 400, not 500."""
        super().__init__(message)
        self.malformed = malformed


def strategic_patch(target: Any, patch: Object, schema: Object) -> Object:
    directive = patch.get(_PATCH)
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != _PATCH}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise StrategicPatchError(f"unknown patch type found: {directive}")
    merged = _retained(dict(target) if isinstance(target, dict) else {}, patch)
    for key, value in patch.items():
        if not key.startswith("$"):
            _merge_member(merged, key, value, _property(schema, key), patch)
    _apply_directives(merged, patch, schema)
    return merged


def _retained(target: Object, patch: Object) -> Object:
    """The target without what the patch does not retain; the patch must retain what it sets."""
    if _RETAIN not in patch:
        return target
    if not isinstance(patch[_RETAIN], list):
        raise StrategicPatchError("invalid patch format of retainKeys", malformed=True)
    keys = _identities(patch[_RETAIN])
    sets = (key for key, value in patch.items() if value is not None and not key.startswith("$"))
    if any(key not in keys for key in sets):
        raise StrategicPatchError("invalid patch format of retainKeys", malformed=True)
    return {key: value for key, value in target.items() if key in keys}


def _merge_member(merged: Object, key: str, value: Any, schema: Object, patch: Object) -> None:
    if value is None:
        merged.pop(key, None)
    elif isinstance(value, dict):
        merged[key] = _merge_object(merged.get(key), value, schema)
    elif isinstance(value, list) and "merge" in _strategies(schema):
        merged[key] = _merge_list(merged.get(key), value, schema)
    else:
        merged[key] = value


def _merge_object(target: Any, value: Object, schema: Object) -> Object:
    if "replace" in _strategies(schema) and not isinstance(target, dict):
        return value
    return strategic_patch(target, value, schema)


def _merge_list(target: Any, items: list[Any], schema: Object) -> list[Any]:
    existing = target if isinstance(target, list) else []
    if items and all(isinstance(item, dict) for item in items):
        return _merge_objects(existing, items, schema)
    known = _identities(existing)
    return [*existing, *(item for item in items if _identity(item) not in known)]


def _merge_objects(existing: list[Any], items: list[Object], schema: Object) -> list[Any]:
    key = schema.get("x-kubernetes-patch-merge-key")
    if not key:
        return items
    if any(item.get(_PATCH) == "replace" and len(item) == 1 for item in items):
        return [item for item in items if _PATCH not in item]
    merged = _MergedList(existing, key, schema.get("items") or {})
    for item in items:
        if key not in item:
            shown = sprintf("%v", [item])
            raise StrategicPatchError(f"map: {shown} does not contain declared merge key: {key}")
        merged.merge(item)
        checkpoint()
    return merged.items()


class _MergedList:
    """A list of objects with unique keys; those that a patch adds come first."""

    def __init__(self, existing: list[Any], key: str, schema: Object) -> None:
        self._existing = dict(enumerate(existing))
        self._new: list[Any] = []
        self._key = key
        self._schema = schema
        self._places: dict[Any, list[int]] = {}
        for place, item in self._existing.items():
            if isinstance(item, dict):
                self._places.setdefault(_identity(item.get(key)), []).append(place)

    def merge(self, item: Object) -> None:
        """Delete or change the item with the same key, or add the item."""
        name = _identity(item[self._key])
        if item.get(_PATCH) == "delete":
            for place in self._places.pop(name, ()):
                del self._existing[place]
        elif places := self._places.get(name):
            self._existing[places[0]] = strategic_patch(self._existing[places[0]], item, self._schema)
        else:
            self._new.append(strategic_patch({}, item, self._schema))

    def items(self) -> list[Any]:
        return [*self._new, *self._existing.values()]


def _identity(value: Any) -> Any:
    """A hashable stand-in for a value: equal values have equal ones."""
    return ("", orjson.dumps(value, option=orjson.OPT_SORT_KEYS)) if type(value) in (dict, list) else value


def _identities(values: Any) -> set[Any]:
    return {_identity(value) for value in values} if isinstance(values, list) else set()


def _apply_directives(merged: Object, patch: Object, schema: Object) -> None:
    for directive, value in patch.items():
        if directive.startswith(_DELETE_PRIMITIVES):
            key = directive[len(_DELETE_PRIMITIVES) :]
            if isinstance(merged.get(key), list) and isinstance(value, list):
                deleted = _identities(value)
                merged[key] = [item for item in merged[key] if _identity(item) not in deleted]
        elif directive.startswith(_ORDER):
            if not isinstance(value, list):
                received = _GO_TYPES.get(type(value), "%!s(<nil>)")
                raise StrategicPatchError(f"expected a []interface {{}}, but received a {received}")
            key = directive[len(_ORDER) :]
            if isinstance(merged.get(key), list) and isinstance(value, list):
                merged[key] = _ordered(merged[key], value, _property(schema, key))


def _ordered(items: list[Any], order: list[Any], schema: Object) -> list[Any]:
    """The items in the order of the patch; items that it does not list keep their places."""
    key = schema.get("x-kubernetes-patch-merge-key")

    def name(item: Any) -> Any:
        return _identity(item.get(key) if isinstance(item, dict) else item)

    positions: dict[Any, int] = {}
    for position, item in enumerate(order):
        positions.setdefault(name(item), position)
    names = [name(item) for item in items]
    listed = [(positions[name], place) for place, name in enumerate(names) if name in positions]
    in_order = iter([items[place] for _, place in sorted(listed)])
    return [next(in_order) if name in positions else item for name, item in zip(names, items, strict=True)]


def _property(schema: Object, key: str) -> Object:
    member = (schema.get("properties") or {}).get(key)
    if member is None:
        member = schema.get("additionalProperties")
    return member if isinstance(member, dict) else {}


def _strategies(schema: Object) -> list[str]:
    return str(schema.get("x-kubernetes-patch-strategy") or "").split(",")
