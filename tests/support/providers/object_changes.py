"""What a write changed in an object, without times, versions and identities that differ from run to run."""

from __future__ import annotations

import re
from typing import Any

from crossply.values import Object

_LEFT_OUT = {
    "managedFields",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "uid",
    "deletionTimestamp",
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ADDRESS = re.compile(r"127\.0\.0\.1:\d+")


def changes_between(before: Object, after: Object) -> Object:
    """The fields that a write changed, with their new values; None for what it removed."""
    old, new = flat(before), flat(after)
    changes = {path: value for path, value in new.items() if old.get(path) != value}
    return changes | {path: None for path in old if path not in new}


def flat(target: Object) -> Object:
    """An object as one mapping; a condition is one value, without its time."""
    fields: Object = {}
    for key, value in target.items():
        if key == "metadata":
            stable = {name: item for name, item in value.items() if name not in _LEFT_OUT}
            _flatten("metadata", stable, fields)
        elif key not in ("apiVersion", "kind"):
            _flatten(key, value, fields)
    return fields


def _flatten(path: str, value: Any, fields: Object) -> None:
    if path == "status.conditions":
        for condition in value:
            # Not every condition of crossplane-runtime has an observed generation.
            left_out = {"type", "lastTransitionTime"}
            if condition["type"] == "Terminating":
                left_out.add("observedGeneration")
            stable = {key: item for key, item in condition.items() if key not in left_out}
            fields[f"{path}.{condition['type']}"] = stable
    elif isinstance(value, dict) and value:
        for key, item in value.items():
            _flatten(f"{path}.{key}", item, fields)
    elif value not in ({}, [], None, "") and (path, value) != ("status.users", 0):
        fields[path] = value


def plain(value: Any, target: Object) -> Any:
    """A value without what differs from run to run: times, identities, addresses and the namespace."""
    namespace = target.get("metadata", {}).get("namespace", "")
    if isinstance(value, dict):
        return {plain(key, target): plain(item, target) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, target) for item in value]
    if not isinstance(value, str):
        return value
    value = _ADDRESS.sub("<address>", _UID.sub("<uid>", _TIME.sub("<time>", value)))
    return (
        value.replace(namespace, "<namespace>").replace(' in namespace "<namespace>"', "")
        if namespace
        else value
    )
