"""Strategic merge patch: a merge patch that knows which lists are maps in disguise.

A schema says for a list whether it merges (`x-kubernetes-patch-strategy`) and by which key
(`x-kubernetes-patch-merge-key`). Directives inside the patch say what cannot be said by values: `$patch`,
`$retainKeys`, `$deleteFromPrimitiveList/…` and `$setElementOrder/…`.
"""

from __future__ import annotations

from typing import Any

from crossply.errors import CrossplyError
from crossply.values import Object

_PATCH, _RETAIN = "$patch", "$retainKeys"
_DELETE_PRIMITIVES, _ORDER = "$deleteFromPrimitiveList/", "$setElementOrder/"
_GO_TYPES = {bool: "bool", int: "int64", float: "float64", str: "string", dict: "map[string]interface {}"}


class StrategicPatchError(CrossplyError):
    """A strategic merge patch holds a directive that cannot be followed."""

    code = "CP-641"

    def __init__(self, message: str, *, malformed: bool = False) -> None:
        """`malformed` says that a directive has the wrong form: Kubernetes answers that with 400, not 500."""
        super().__init__(message)
        self.malformed = malformed


def strategic_patch(target: Any, patch: Object, schema: Object) -> Object:
    """The target with the patch merged in."""
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
    _follow_directives(merged, patch, schema)
    return merged


def _retained(target: Object, patch: Object) -> Object:
    """The target without what the patch does not retain; what the patch sets, it has to retain."""
    if _RETAIN not in patch:
        return target
    keys = patch[_RETAIN]
    sets = (key for key, value in patch.items() if value is not None and not key.startswith("$"))
    if not isinstance(keys, list) or any(key not in keys for key in sets):
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
    return [*existing, *(item for item in items if item not in existing)]


def _merge_objects(existing: list[Any], items: list[Object], schema: Object) -> list[Any]:
    key = schema.get("x-kubernetes-patch-merge-key")
    if not key:
        return items
    if any(item.get(_PATCH) == "replace" and len(item) == 1 for item in items):
        return [item for item in items if _PATCH not in item]
    merged = list(existing)
    new: list[Any] = []
    for item in items:
        if key not in item:
            raise StrategicPatchError(f"map: {item} does not contain declared merge key: {key}")
        _merge_item(merged, new, item, key, schema.get("items") or {})
    return [*new, *merged]


def _merge_item(merged: list[Any], new: list[Any], item: Object, key: str, schema: Object) -> None:
    places = [i for i, each in enumerate(merged) if isinstance(each, dict) and each.get(key) == item[key]]
    if item.get(_PATCH) == "delete":
        for place in reversed(places):
            del merged[place]
    elif places:
        merged[places[0]] = strategic_patch(merged[places[0]], item, schema)
    else:
        new.append(strategic_patch({}, item, schema))


def _follow_directives(merged: Object, patch: Object, schema: Object) -> None:
    for directive, value in patch.items():
        if directive.startswith(_DELETE_PRIMITIVES):
            key = directive[len(_DELETE_PRIMITIVES) :]
            if isinstance(merged.get(key), list) and isinstance(value, list):
                merged[key] = [item for item in merged[key] if item not in value]
        elif directive.startswith(_ORDER):
            if not isinstance(value, list):
                received = _GO_TYPES.get(type(value), "%!s(<nil>)")
                raise StrategicPatchError(f"expected a []interface {{}}, but received a {received}")
            key = directive[len(_ORDER) :]
            if isinstance(merged.get(key), list):
                merged[key] = _ordered(merged[key], value, _property(schema, key))


def _ordered(items: list[Any], order: list[Any], schema: Object) -> list[Any]:
    """The items in the order the patch lists them; those it does not list stay where they are around them."""
    key = schema.get("x-kubernetes-patch-merge-key")
    wanted = [each.get(key) if isinstance(each, dict) else each for each in order]

    def name(item: Any) -> Any:
        return item.get(key) if isinstance(item, dict) else item

    listed = sorted((i for i in items if name(i) in wanted), key=lambda i: wanted.index(name(i)))
    result: list[Any] = []
    for item in items:
        if name(item) not in wanted:
            result.append(item)
        elif listed:
            result.append(listed.pop(0))
    return result


def _property(schema: Object, key: str) -> Object:
    found = (schema.get("properties") or {}).get(key)
    if found is None:
        found = schema.get("additionalProperties")
    return found if isinstance(found, dict) else {}


def _strategies(schema: Object) -> list[str]:
    return str(schema.get("x-kubernetes-patch-strategy") or "").split(",")
