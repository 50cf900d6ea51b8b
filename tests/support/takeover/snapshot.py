"""The objects of a cluster at one time, and their changes since."""

from __future__ import annotations

from typing import Any

import orjson

from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.values import Object

Key = tuple[str, str, str]
"""Kind, namespace and name."""


async def read_all(client: Client, kinds: tuple[Kind, ...], namespace: str = "") -> dict[Key, Object]:
    """All objects of these kinds."""
    objects = {}
    for kind in kinds:
        listed = await client.list(kind, namespace if kind.namespaced else "")
        for data in listed.items:
            obj = orjson.loads(data)
            metadata = obj["metadata"]
            objects[kind.kind, metadata.get("namespace", ""), metadata["name"]] = obj
    return objects


def rewritten(before: dict[Key, Object], after: dict[Key, Object]) -> dict[Key, list[str]]:
    """Earlier objects that were written, deleted or replaced since."""
    return {
        key: differences(obj, after.get(key))
        for key, obj in before.items()
        if _version(obj) != _version(after.get(key) or {})
    }


def _version(obj: Object) -> tuple[Any, ...]:
    metadata = obj.get("metadata") or {}
    return metadata.get("uid"), metadata.get("resourceVersion")


def altered(before: dict[Key, Object], after: dict[Key, Object]) -> dict[Key, list[str]]:
    """Objects that lost or changed a field, whoever wrote it; added fields do not count."""
    places = {key: lost(_content(obj), _content(after.get(key) or {})) for key, obj in before.items()}
    return {key: paths for key, paths in places.items() if paths}


def _content(obj: Object) -> Object:
    unimportant = ("resourceVersion", "managedFields", "generation", "creationTimestamp")
    metadata = {key: value for key, value in (obj.get("metadata") or {}).items() if key not in unimportant}
    return {**obj, "metadata": metadata}


def lost(before: Any, after: Any, path: str = "") -> list[str]:
    """The places of what `before` has and `after` lacks; items of lists may be anywhere in the list."""
    if isinstance(before, dict) and isinstance(after, dict):
        places = []
        for key, value in before.items():
            inner = f"{path}.{key}"
            places += lost(value, after[key], inner) if key in after else [inner]
        return places
    if isinstance(before, list) and isinstance(after, list):
        return [
            place
            for number, item in enumerate(before)
            if all(lost(item, other) for other in after)
            for place in lost(item, (after[number:] or [None])[0], f"{path}[{number}]")
        ]
    return [] if before == after else [path]


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Where two values differ, each place in a line; managed fields are left out as too long."""
    if path.endswith(".managedFields"):
        old, new = (
            [f"{entry['manager']}/{entry['operation']}" for entry in side or ()] for side in (old, new)
        )
    if isinstance(old, dict) and isinstance(new, dict):
        keys = [*old, *(key for key in new if key not in old)]
        return [line for key in keys for line in differences(old.get(key), new.get(key), f"{path}.{key}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [
            line
            for number, pair in enumerate(zip(old, new, strict=True))
            for line in differences(*pair, f"{path}[{number}]")
        ]
    return [] if old == new else [f"{path}: {old!r} -> {new!r}"]
