"""Validates x-kubernetes-list-type, x-kubernetes-list-map-keys and x-kubernetes-map-type."""

from __future__ import annotations

from crossply.apiserver.apiextensions.go_printing import invalid_struct, show_items
from crossply.schema.field_errors import FORBIDDEN, INVALID, OMITTED, REQUIRED, FieldError, unsupported
from crossply.values import Object
from crossply.values.gojson import dumps

MAP_TYPE, LIST_TYPE, KEYS = (
    "x-kubernetes-map-type",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
)


def check_map_type(schema: Object, path: str) -> list[FieldError]:
    map_type = schema.get(MAP_TYPE)
    if map_type is None:
        return []
    errors = []
    if schema.get("type") != "object":
        errors.append(_wrong_type(schema, path, f"must be object if {MAP_TYPE} is specified"))
    if map_type not in ("atomic", "granular"):
        errors.append(unsupported(f"{path}.{MAP_TYPE}", map_type, ["atomic", "granular"]))
    return errors


def _wrong_type(schema: Object, path: str, detail: str) -> FieldError:
    kind = schema.get("type") or ""
    return FieldError(INVALID if kind else REQUIRED, f"{path}.type", kind, detail)


def check_list_type(schema: Object, path: str) -> list[FieldError]:
    """Validate x-kubernetes-list-type, but for its keys."""
    list_type = schema.get(LIST_TYPE)
    errors = []
    if list_type is not None and schema.get("type") != "array":
        errors.append(_wrong_type(schema, path, f"must be array if {LIST_TYPE} is specified"))
    elif list_type == "set":
        errors += _check_set_items(schema, path)
    if list_type not in (None, "atomic", "set", "map"):
        errors.append(unsupported(f"{path}.{LIST_TYPE}", list_type, ["atomic", "set", "map"]))
    if schema.get(KEYS) and list_type != "map":
        detail = f"must be map if {KEYS} is non-empty"
        kind = REQUIRED if list_type is None else INVALID
        errors.append(FieldError(kind, f"{path}.{LIST_TYPE}", list_type, detail))
    return errors


def _check_set_items(schema: Object, path: str) -> list[FieldError]:
    items = schema.get("items")
    if not isinstance(items, dict):
        return []
    detail = f"must be atomic as item of a list with {LIST_TYPE}=set"
    # kube-apiserver shows the value of the list type in both cases.
    shown = dumps(items.get(LIST_TYPE))
    if items.get("type") == "array" and items.get(LIST_TYPE) not in (None, "atomic"):
        return [FieldError(INVALID, f"{path}.items.{LIST_TYPE}", OMITTED, f"{shown}: {detail}")]
    if items.get("type") == "object" and items.get(MAP_TYPE) != "atomic":
        return [FieldError(INVALID, f"{path}.items.{MAP_TYPE}", OMITTED, f"{shown}: {detail}")]
    return []


def check_keys(schema: Object, path: str) -> list[FieldError]:
    """Validate the keys of a list of type map, and items without identity."""
    errors = []
    if schema.get(LIST_TYPE) == "map":
        if not schema.get(KEYS):
            detail = f"must not be empty if {LIST_TYPE} is map"
            errors.append(FieldError(REQUIRED, f"{path}.{KEYS}", "", detail))
        errors += _check_map_items(schema, path)
    return errors + _check_nulls(schema, path)


def _check_map_items(schema: Object, path: str) -> list[FieldError]:
    items = schema.get("items")
    if items is None:
        detail = f"must have a schema if {LIST_TYPE} is map"
        return [FieldError(REQUIRED, f"{path}.items", "", detail)]
    if isinstance(items, list):
        detail = f"must only have a single schema if {LIST_TYPE} is map"
        return [invalid_struct(f"{path}.items", show_items(items), detail)]
    if items.get("type") != "object":
        detail = f"must be object if parent array's {LIST_TYPE} is map"
        return [FieldError(INVALID, f"{path}.items.type", items.get("type") or "", detail)]
    return _check_key_names(schema.get(KEYS) or [], items, path)


def _check_key_names(keys: list[str], items: Object, path: str) -> list[FieldError]:
    errors, names = [], set()
    properties = items.get("properties") or {}
    for key in keys:
        if key not in properties:
            detail = "entries must all be names of item properties"
            errors.append(FieldError(INVALID, f"{path}.{KEYS}", keys, detail))
        elif properties[key].get("type") in ("array", "object"):
            detail = f"must be a scalar type if parent array's {LIST_TYPE} is map"
            errors.append(FieldError(INVALID, f"{path}.items.properties[{key}].type", items["type"], detail))
        if key in names:
            errors.append(FieldError(INVALID, f"{path}.{KEYS}", keys, "must not contain duplicate entries"))
        names.add(key)
    return errors


def _check_nulls(schema: Object, path: str) -> list[FieldError]:
    items, list_type = schema.get("items"), schema.get(LIST_TYPE)
    if not isinstance(items, dict) or list_type not in ("set", "map"):
        return []
    errors = []
    if items.get("nullable"):
        detail = f"cannot be nullable when {LIST_TYPE} is {list_type}"
        errors.append(FieldError(FORBIDDEN, f"{path}.items.nullable", "", detail))
    if list_type == "map":
        for key in schema.get(KEYS) or ():
            errors += _check_key(key, items, path)
    return errors


def _check_key(key: str, items: Object, path: str) -> list[FieldError]:
    member = (items.get("properties") or {}).get(key)
    if member is None:
        return []
    errors, at = [], f"{path}.items.properties[{key}]"
    subject = f"this property is in {KEYS}, so it"
    if key not in (items.get("required") or ()) and "default" not in member:
        detail = f"{subject} must have a default or be a required property"
        errors.append(FieldError(REQUIRED, f"{at}.default", "", detail))
    if member.get("nullable"):
        errors.append(FieldError(FORBIDDEN, f"{at}.nullable", "", f"{subject} cannot be nullable"))
    return errors
