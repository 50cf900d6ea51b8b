"""Reading an object's managed fields: who owns what, and whether an apply would still change anything."""

from __future__ import annotations

from typing import Any

import orjson

from crossply.control.apply_digests import contains, covers
from crossply.values import Object

CROSSPLANE = "crossplane"
"""The field manager that Crossplane and its successors write definitions and their CRDs as."""
BEFORE_FIRST_APPLY = "before-first-apply"


def holds(live: Object, desired: Object, manager: str) -> bool:
    """Whether applying the desired object would change nothing.

    All of it must be there, and the manager must not own a field that it no longer has: the apply would
    remove that field.
    """
    return contains(live, desired) and all(_within(fields, desired) for fields in _applied_by(live, manager))


def holds_completed(live: Object, desired: Object, manager: str) -> bool:
    """The same for kinds of which servers complete the items of lists, such as Deployments."""
    return covers(live, desired) and all(_within(fields, desired) for fields in _applied_by(live, manager))


def is_applied(live: Object, desired: Object, manager: str) -> bool:
    """The same, for an object that the manager has applied before, with nothing left to take over."""
    applied = any(fields for fields in _applied_by(live, manager))
    return applied and not upgrade_to_apply(live, manager) and holds(live, desired, manager)


def _applied_by(live: Object, manager: str) -> list[Object]:
    return [
        entry.get("fieldsV1") or {}
        for entry in live["metadata"].get("managedFields") or ()
        if entry.get("manager") == manager
        and entry.get("operation") == "Apply"
        and not entry.get("subresource")
    ]


def _within(fields: Object, desired: Any) -> bool:
    """Whether every owned field is desired."""
    if isinstance(desired, list):
        return all(_in_list(key[2:], inner, desired) for key, inner in fields.items() if key.startswith("k:"))
    if not isinstance(desired, dict):
        return True
    return all(
        key[2:] in desired and _within(inner, desired[key[2:]])
        for key, inner in fields.items()
        if key.startswith("f:")
    )


def _in_list(item_key: str, fields: Object, desired: list[Any]) -> bool:
    """Whether an owned item is one of a list, known by its keys; a key that has a default may be left out."""
    keys = orjson.loads(item_key)
    for item in desired:
        if isinstance(item, dict) and all(item.get(key, value) == value for key, value in keys.items()):
            return _within({key: inner for key, inner in fields.items() if key[2:] not in keys}, item)
    return False


def updates_as_applied(live: Object, manager: str) -> list[Object]:
    """The JSON patch after which a manager owns by apply what it wrote by updates; empty where it did not.

    Otherwise a field that both own would stay when the next apply leaves it out.
    """
    entries = live["metadata"].get("managedFields") or []
    own = [entry for entry in entries if entry.get("manager") == manager and not entry.get("subresource")]
    if all(entry.get("operation") == "Apply" for entry in own):
        return []
    fields: Object = {}
    for entry in own:
        fields = _united(fields, entry.get("fieldsV1") or {})
    others = [entry for entry in entries if entry not in own]
    applied = {**own[0], "operation": "Apply", "fieldsV1": fields}
    return [
        {"op": "replace", "path": "/metadata/managedFields", "value": [*others, applied]},
        _unless_changed(live),
    ]


def _united(fields: Object, others: Object) -> Object:
    """The fields of two sets, in the form of managed fields."""
    return {
        **fields,
        **{key: _united(fields.get(key, {}), inner) for key, inner in others.items()},
    }


def _unless_changed(live: Object) -> Object:
    version = live["metadata"]["resourceVersion"]
    return {"op": "replace", "path": "/metadata/resourceVersion", "value": version}


def upgrade_to_apply(live: Object, manager: str) -> list[Object]:
    """The JSON patch that hands fields written by updates over to a manager that applies; empty when done.

    It takes two rounds: first nobody owns anything, so that the next apply shares all fields with a manager
    that Kubernetes calls `before-first-apply`; once we have applied, that one is removed.
    """
    managers = [entry.get("manager") for entry in live["metadata"].get("managedFields") or ()]
    version = _unless_changed(live)
    if manager not in managers:
        return [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}, version]
    if BEFORE_FIRST_APPLY in managers:
        place = managers.index(BEFORE_FIRST_APPLY)
        return [{"op": "remove", "path": f"/metadata/managedFields/{place}"}, version]
    return []
