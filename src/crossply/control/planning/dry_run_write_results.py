"""An object of the dry run: what it really is, and what it would be."""

from __future__ import annotations

import uuid
from typing import Any

from crossply.compose.object_metadata import metadata_of
from crossply.kube.failures import Conflict
from crossply.kube.request_types import APPLY_PATCH, MERGE_PATCH, Request
from crossply.values import Object
from crossply.values.differences import carried
from crossply.values.merge_patch import merge_patch

_IDENTITY = ("uid", "creationTimestamp")


class DryRunObject:
    """One object. None stands for an object that does not exist."""

    __slots__ = ("applied", "before", "desired", "now")

    def __init__(self, before: Object | None) -> None:
        self.before = before
        """What the server has."""
        self.now = before
        """What it would have."""
        self.applied: dict[str, Object] = {}
        """What the server answered to each manager's last apply."""
        self.desired: dict[str, Object] = {}
        """What each manager applied last."""

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was planned for it yet, so that the server's answer is the whole truth."""
        return self.now is self.before

    def check_expected(self, body: Any) -> None:
        """Refuse a write that was meant for another object, or another version of it."""
        metadata = (body.get("metadata") if isinstance(body, dict) else None) or {}
        current = self.now["metadata"] if self.now is not None else {}
        for field in ("uid", "resourceVersion"):
            if metadata.get(field) and metadata[field] != current.get(field):
                raise Conflict("the object has been modified", status=409, reason="Conflict")

    def after_apply(self, manager: str, desired: Object, answer: Object) -> Object:
        """What it is after an apply, which the server tried on the object that it really has."""
        base, last = self.applied.get(manager) or self.before or {}, self.desired.get(manager)
        self.applied[manager], self.desired[manager] = answer, desired
        if self.is_untouched or self.now is None:
            return answer
        result = carried(base, answer, self.now)
        return _without(result, last, desired, self.before) if last and self.before else result

    def after_status_apply(self, manager: str, answer: Object) -> Object:
        """What it is after an apply of its status."""
        assert self.now is not None
        base = self.applied.get(manager) or self.before or {}
        self.applied[manager] = answer
        statuses = (obj.get("status") or {} for obj in (base, answer, self.now))
        return self.with_status(carried(*statuses))

    def with_status(self, status: Any) -> Object:
        """What it is with another status."""
        assert self.now is not None
        return {**self.now, "status": status}

    def is_changed_by(self, result: Object) -> bool:
        """Whether a write would change anything, as the server sees it."""
        return self.now is None or _content(self.now) != _content(result)


def identified(result: Object, known: Object | None, version: int) -> Object:
    """The result of a write as the next version of an object. A dry run makes a new uid every time."""
    metadata = {**result["metadata"], "resourceVersion": str(version)}
    for field in _IDENTITY:
        if known is not None and field in known["metadata"]:
            metadata[field] = known["metadata"][field]
    return {**result, "metadata": metadata}


def _without(result: Object, last: Object, desired: Object, live: Object) -> Object:
    """The result without what a manager applied last and no more.

    The server tried the apply on an object that does not have what was applied last. Where that is what the
    object really has, another manager shares it, and it stays.
    """
    remaining = dict(result)
    for key, value in last.items():
        if isinstance(value, dict) and isinstance(remaining.get(key), dict):
            others = [obj.get(key) for obj in (desired, live)]
            inner = [other if isinstance(other, dict) else {} for other in others]
            remaining[key] = _without(remaining[key], value, *inner)
        elif key not in desired and live.get(key) != value:
            remaining.pop(key, None)
    return remaining


def unconditional(body: Object) -> Object:
    """A body that expects nothing: what it expected was checked, and the server knows nothing of it."""
    expectations = ("uid", "resourceVersion")
    metadata = {key: value for key, value in (body.get("metadata") or {}).items() if key not in expectations}
    return {**body, "metadata": metadata}


def as_version_of(obj: Object, live: Object | None) -> Object:
    """The object as an update of the one that the server has, or as a new one."""
    metadata = {**obj["metadata"]}
    if live is None:
        for field in ("resourceVersion", "uid", "creationTimestamp", "managedFields", "generation"):
            metadata.pop(field, None)
    else:
        metadata["resourceVersion"] = live["metadata"]["resourceVersion"]
    return {**obj, "metadata": metadata}


def _content(obj: Object) -> Object:
    """All of an object but its version, and the times at which its fields were written."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _BOOKKEEPING}
    owners = [
        {key: value for key, value in entry.items() if key != "time"}
        for entry in obj["metadata"].get("managedFields") or ()
    ]
    return {**obj, "metadata": {**metadata, "managedFields": owners}}


_BOOKKEEPING = ("resourceVersion", "uid", "creationTimestamp")


def written(known: DryRunObject, request: Request, body: Any, subresource: str) -> Object:
    """What a write leaves of an object, before defaults and validation."""
    if known.now is None:
        return _new(body)
    result = _changed(known, known.now, request, body)
    if subresource:
        return {**known.now, "status": result.get("status")}
    if "status" in known.now:
        result = {**result, "status": known.now["status"]}
    return _counted(known.now, result)


def _changed(known: DryRunObject, now: Object, request: Request, body: Any) -> Object:
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
    """What a manager applied of an object, according to its managed fields."""
    for entry in metadata_of(obj).get("managedFields") or ():
        if (entry.get("manager"), entry.get("operation")) == (manager, "Apply") and not entry.get(
            "subresource"
        ):
            return _part(obj, entry.get("fieldsV1") or {})
    return {}


def _part(value: Object, fields: Object) -> Object:
    part: Object = {}
    for field, inner in fields.items():
        key = field[2:]
        if field.startswith("f:") and key in value:
            nested = value[key]
            part[key] = _part(nested, inner) if isinstance(nested, dict) and inner else nested
    return part
