"""Applying a file's objects to the dry run, as `kubectl apply` would to the real one.

kubectl keeps what it applied last in an annotation, and removes what was there and is no more. The annotation
counts: it is part of what a CompositionRevision is named by.
"""

from __future__ import annotations

import orjson

from crossply.compose.object_metadata import annotations_of, metadata_of, name_of, namespace_of
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.gojson import dumps

SERVER_SIDE = "kubectl"
CLIENT_SIDE = "kubectl-client-side-apply"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


async def apply_file(client: Client, kind: Kind, obj: Object, manager: str) -> Object:
    """What is left after applying an object, the way it was applied before.

    A manager that is named applies at the server's side.
    """
    name, namespace = name_of(obj), namespace_of(obj)
    live = await client.get(kind, name, namespace)
    manager = manager or _server_side_manager(live)
    if manager:
        return await client.apply(kind, obj, manager)
    if live is None:
        return await client.create(kind, _annotated(obj, obj), CLIENT_SIDE)
    return await client.patch_merge(kind, name, three_way(_last_applied(live), obj), namespace, CLIENT_SIDE)


def _server_side_manager(live: Object | None) -> str:
    """The manager of kubectl, where the object was applied at the server's side."""
    if live is None or LAST_APPLIED in annotations_of(live):
        return ""
    owners = metadata_of(live).get("managedFields") or ()
    applied = {entry.get("manager") for entry in owners if entry.get("operation") == "Apply"}
    return SERVER_SIDE if SERVER_SIDE in applied else ""


def _last_applied(live: Object) -> Object:
    try:
        last = orjson.loads(annotations_of(live).get(LAST_APPLIED) or "{}")
    except orjson.JSONDecodeError:
        return {}
    return last if isinstance(last, dict) else {}


def three_way(last: Object, desired: Object) -> Object:
    """The merge patch that sets all that is wished for, and removes what was wished for last and no more."""
    patch = _annotated(_over(_removed(last, desired), desired), desired)
    return {key: value for key, value in patch.items() if key != "status"}


def _annotated(obj: Object, desired: Object) -> Object:
    """The object with kubectl's note of what was applied, written as kubectl writes it."""
    own_annotations = {key: text for key, text in annotations_of(desired).items() if key != LAST_APPLIED}
    noted = {**desired, "metadata": {**metadata_of(desired), "annotations": own_annotations}}
    annotations = dict(metadata_of(obj).get("annotations") or {})
    annotations[LAST_APPLIED] = dumps(noted) + "\n"
    return {**obj, "metadata": {**metadata_of(obj), "annotations": annotations}}


def _removed(last: Object, desired: Object) -> Object:
    removed: Object = {}
    for key, value in last.items():
        if key not in desired:
            removed[key] = None
        elif isinstance(value, dict) and isinstance(desired[key], dict):
            inner = _removed(value, desired[key])
            if inner:
                removed[key] = inner
    return removed


def _over(base: Object, desired: Object) -> Object:
    """The patch with all desired fields."""
    result = dict(base)
    for key, value in desired.items():
        inner = result.get(key)
        result[key] = _over(inner or {}, value) if isinstance(value, dict) else value
    return result
