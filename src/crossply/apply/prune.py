"""Remove what a manager applied before and no longer applies, unless another manager owns it.

The order of the steps is Kubernetes', and matters where ownership has holes: take out everything that was
applied last time, put back what is owned now, then what no manager had applied (defaults, and what
controllers wrote below an item).
"""

from __future__ import annotations

from typing import Any

from crossply.apply.configuration_field_set import owned_fields, with_named_fields
from crossply.apply.errors import NotTyped
from crossply.apply.field_sets import FieldSet, difference, intersection, is_member, union
from crossply.apply.managed_fields import Managers, Owned
from crossply.apply.path_elements import known_elements
from crossply.apply.request_scope import Version, Versions
from crossply.apply.schema_types import LIST, MAP, ListType, MapType, Type, form_of
from crossply.values import Object

_CONVERTING_PRUNED = "failed to convert pruned object to last applied version"


def prune(
    merged: Object, managers: Managers, last: Owned | None, applied: Owned, versions: Versions
) -> Object:
    """Return a merged object without the fields that no manager owns any more."""
    if last is None or not last.fields:
        return merged
    version = versions.get(last.api_version)
    if version is None:
        return merged
    try:
        pruned = _pruned(merged, managers, last, version, versions)
        return versions[applied.api_version].convert(pruned)
    except NotTyped as error:
        raise error.within("failed to prune fields") from None


def _pruned(merged: Object, managers: Managers, last: Owned, version: Version, versions: Versions) -> Object:
    merged = version.convert(merged, "failed to convert merged object to last applied version")
    type_ = version.type
    fields = _fields(merged, type_)
    last_fields = with_named_fields(last.fields, type_)
    owned = _owned_by_version(managers)
    pruned = remove(merged, last_fields, type_)
    # The version that was pruned goes first: converting may need the fields that it puts back.
    pruned = _put_back(merged, fields, pruned, owned.pop(version.api_version, {}), type_)
    for api_version in sorted(owned):
        if api_version in versions:
            pruned = _put_back_at(versions[api_version], merged, pruned, owned[api_version])
    pruned = version.convert(pruned, "failed add back dangling items: " + _CONVERTING_PRUNED)
    removed = difference(fields, _fields(pruned, type_))
    return remove(merged, intersection(removed, last_fields), type_)  # type: ignore[no-any-return]


def _owned_by_version(managers: Managers) -> dict[str, FieldSet]:
    owned: dict[str, FieldSet] = {}
    for manager in managers.values():
        owned[manager.api_version] = union(owned.get(manager.api_version, {}), manager.fields)
    return owned


def _put_back(merged: Object, fields: FieldSet, pruned: Object, owned: FieldSet, type_: Type) -> Object:
    """Return a merged object with only what is left after pruning and what someone owns."""
    remaining = union(_fields(pruned, type_), with_named_fields(owned, type_))
    return remove(merged, difference(fields, remaining), type_)  # type: ignore[no-any-return]


def _put_back_at(version: Version, merged: Object, pruned: Object, owned: FieldSet) -> Object:
    context = f"failed add back owned items: failed to convert %s object at version {version.api_version}"
    merged = version.convert(merged, context % "merged")
    pruned = version.convert(pruned, context % "pruned")
    return _put_back(merged, _fields(merged, version.type), pruned, owned, version.type)


def leaves_nothing(managers: Managers, last: Owned | None, applied: Owned) -> bool:
    """Return whether pruning can have no effect: what was applied is applied again, in everyone's version.

    It still has an effect when the configuration names containers without what is in them.
    """
    if last is None:
        return True
    version = applied.api_version
    if any(owned.api_version != version for owned in managers.values()) or last.api_version != version:
        return False
    return last.fields == applied.fields or not difference(last.fields, applied.fields)


def _fields(value: Object, type_: Type) -> FieldSet:
    return with_named_fields(owned_fields(value, type_), type_)


def remove(value: Any, fields: FieldSet, type_: Type | None) -> Any:
    """Return a value without some fields, each with everything below it."""
    if not fields or type_ is None:
        return value
    form, _ = form_of(type_, value)
    if form == MAP and type_.map is not None:
        return _members(value, fields, type_.map)
    if form == LIST and type_.list is not None:
        return _items(value, fields, type_.list)
    return value


def _members(value: Any, fields: FieldSet, map_type: MapType) -> Any:
    if value.__class__ is not dict or not value or map_type.atomic:
        return None
    result = value
    for element, node in fields.items():
        name = element[2:]
        if element[0] != "f" or name not in value:
            continue
        if is_member(node):
            result = result.copy() if result is value else result
            del result[name]
            continue
        left = remove(value[name], node, map_type.fields.get(name, map_type.element))
        if left is not value[name]:
            result = result.copy() if result is value else result
            result[name] = left
    return result or None


def _items(value: Any, fields: FieldSet, list_type: ListType) -> Any:
    if value.__class__ is not list or not value or list_type.atomic:
        return None
    result = []
    changed = False
    for element, item in zip(known_elements(list_type, value), value, strict=True):
        node = fields.get(element)
        if node is None:
            result.append(item)
            continue
        changed = True
        if not is_member(node):
            result.append(remove(item, node, list_type.element))
    return (result or None) if changed else value
