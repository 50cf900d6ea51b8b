"""Writes that the API server cannot try: of kinds, or in namespaces, that are only imagined."""

from __future__ import annotations

import uuid
from typing import Any

from crossply.compose.metadata import metadata_of
from crossply.control.planning.what_if_objects import Imagined
from crossply.kube.requests import APPLY_PATCH, MERGE_PATCH, Request
from crossply.values import Object
from crossply.values.differences import carried
from crossply.values.merge_patch import merge_patch


def written(known: Imagined, request: Request, body: Any, subresource: str) -> Object:
    """What a write leaves of an object, before defaults and validation."""
    if known.now is None:
        return _new(body)
    result = _changed(known, known.now, request, body)
    if subresource:
        return {**known.now, "status": result.get("status")}
    if "status" in known.now:
        result = {**result, "status": known.now["status"]}
    return _counted(known.now, result)


def _changed(known: Imagined, now: Object, request: Request, body: Any) -> Object:
    if request.method == "PUT":
        return dict(body)
    if request.content_type == MERGE_PATCH:
        return dict(merge_patch(now, body))
    if request.content_type == APPLY_PATCH:
        manager = request.query.get("fieldManager", "")
        key = f"{manager} {'status' if 'status' in body and 'spec' not in body else ''}"
        base = known.applied.get(key) or _owned(now, manager)
        known.applied[key] = body
        return carried(base, body, now)
    return now  # a JSON patch: what controllers write this way concerns the owners of fields only


def _new(body: Object) -> Object:
    metadata = {**metadata_of(body), "uid": str(uuid.uuid4()), "generation": 1}
    return {**body, "metadata": metadata}


def _counted(before: Object, after: Object) -> Object:
    if before.get("spec") == after.get("spec"):
        return after
    generation = metadata_of(before).get("generation") or 0
    return {**after, "metadata": {**metadata_of(after), "generation": generation + 1}}


def _owned(obj: Object, manager: str) -> Object:
    """What a manager applied of an object, as its managed fields tell."""
    for entry in metadata_of(obj).get("managedFields") or ():
        if (entry.get("manager"), entry.get("operation")) == (manager, "Apply") and not entry.get(
            "subresource"
        ):
            return _part(obj, entry.get("fieldsV1") or {})
    return {}


def _part(value: Object, fields: Object) -> Object:
    found: Object = {}
    for field, inner in fields.items():
        key = field[2:]
        if field.startswith("f:") and key in value:
            nested = value[key]
            found[key] = _part(nested, inner) if isinstance(nested, dict) and inner else nested
    return found
