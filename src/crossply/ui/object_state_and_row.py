"""Rows of the dashboard: of any object its state in one word, from its conditions, and of events. Pure.

The dashboard counts and colours by the state. Of objects that it has many of, and of events, the dashboard
keeps only what rows and trees are made of. Everything else is read from the API server when the object is
opened.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from crossply.compose.object_metadata import (
    PAUSED_ANNOTATION,
    RESOURCE_NAME_ANNOTATION,
    controller_of,
    is_being_deleted,
    is_paused,
    metadata_of,
    text_in,
)
from crossply.values import Object

READY, WAITING, FAILING, DELETING, PAUSED, PRESENT, MISSING, HIDDEN = (
    "ready",
    "waiting",
    "failing",
    "deleting",
    "paused",
    "present",
    "missing",
    "hidden",
)
WORDS = {
    READY: "Ready",
    WAITING: "Not ready",
    FAILING: "Failing",
    DELETING: "Deleting",
    PAUSED: "Paused",
    PRESENT: "Exists",
    MISSING: "Missing",
    HIDDEN: "Not visible",
}
"""The word for a state, shown beside a symbol and a colour."""
ATTENTION = (FAILING, MISSING, WAITING, DELETING)
"""States that need attention, worst first."""
ORDER = (FAILING, MISSING, WAITING, DELETING, PAUSED, HIDDEN, READY, PRESENT)
MOST_REASON = 400
_SYNCED = ("Synced", "Installed", "Established")
_READY = ("Ready", "Healthy", "Available", "Established", "Succeeded")
_EVENT_FIELDS = (
    "involvedObject",
    "reason",
    "type",
    "count",
    "lastTimestamp",
    "firstTimestamp",
    "eventTime",
    "series",
)
_EVENT_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
_MOST_MESSAGE = 4000
_OBJECT_METADATA = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "finalizers",
    "ownerReferences",
)
_OBJECT_SPEC = (
    "crossplane",
    "resourceRefs",
    "resourceRef",
    "claimRef",
    "compositionRef",
    "compositionRevisionRef",
    "infrastructure",
    "application",
)
_OBJECT_ANNOTATIONS = (RESOURCE_NAME_ANNOTATION, PAUSED_ANNOTATION)


class Condition(NamedTuple):
    type: str
    status: str
    reason: str
    message: str
    since: float


class Row(NamedTuple):
    """What is kept of an object beside its bytes."""

    namespace: str
    name: str
    uid: str
    state: str
    since: float
    """When it came into this state, in seconds since the epoch; 0 where that is not known."""
    created: float
    owner: str
    """The uid of its controller."""
    reason: str
    """Why it is in a state that needs attention, in the words of its conditions."""


def row_of(obj: Object) -> Row:
    """The row of an object; whatever is malformed reads as absent."""
    metadata = metadata_of(obj)
    created = seconds(metadata.get("creationTimestamp"))
    state, since, reason = _state(obj)
    owner = controller_of(obj)
    return Row(
        text_in(metadata, "namespace"),
        text_in(metadata, "name"),
        text_in(metadata, "uid"),
        state,
        since or created,
        created,
        text_in(owner, "uid") if owner else "",
        reason[:MOST_REASON],
    )


def conditions_of(obj: Object) -> list[Condition]:
    """The well-formed conditions of an object, in its order."""
    status = obj.get("status")
    entries = status.get("conditions") if type(status) is dict else None
    if type(entries) is not list:
        return []
    return [_condition(entry) for entry in entries if type(entry) is dict and text_in(entry, "type")]


def _condition(entry: Object) -> Condition:
    return Condition(
        text_in(entry, "type"),
        text_in(entry, "status"),
        text_in(entry, "reason"),
        text_in(entry, "message"),
        seconds(entry.get("lastTransitionTime")),
    )


def _state(obj: Object) -> tuple[str, float, str]:
    if is_being_deleted(obj):
        finalizers = metadata_of(obj).get("finalizers")
        names = ", ".join(str(name) for name in finalizers) if type(finalizers) is list else ""
        waits = f"waits for finalizers: {names}" if names else ""
        return DELETING, seconds(metadata_of(obj).get("deletionTimestamp")), waits
    if is_paused(obj):
        return PAUSED, 0.0, "reconciliation is paused by an annotation"
    by_type = {condition.type: condition for condition in conditions_of(obj)}
    failed = next((by_type[name] for name in _SYNCED if _is(by_type, name, "False")), None)
    if failed is not None:
        return FAILING, failed.since, _sentence(failed)
    ready = next((by_type[name] for name in _READY if name in by_type), None)
    if ready is None:
        return PRESENT, 0.0, ""
    if ready.status == "True":
        return READY, ready.since, ""
    return (FAILING if ready.type == "Healthy" else WAITING), ready.since, _sentence(ready)


def _is(by_type: dict[str, Condition], name: str, status: str) -> bool:
    return name in by_type and by_type[name].status == status


def _sentence(condition: Condition) -> str:
    parts = (condition.reason, condition.message)
    return ": ".join(part for part in parts if part) or f"{condition.type} is {condition.status}"


def seconds(timestamp: Any) -> float:
    """An RFC 3339 time in seconds since the epoch; 0 where it is none."""
    if type(timestamp) is not str:
        return 0.0
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def reduced_event(obj: Object) -> Object:
    """What is kept of an event."""
    metadata = metadata_of(obj)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {key: metadata[key] for key in _EVENT_METADATA if key in metadata},
        "message": text_in(obj, "message")[:_MOST_MESSAGE],
        **{key: obj[key] for key in _EVENT_FIELDS if obj.get(key) is not None},
    }


def event_row(obj: Object) -> Row:
    metadata = metadata_of(obj)
    involved = obj.get("involvedObject")
    created = seconds(metadata.get("creationTimestamp"))
    return Row(
        text_in(metadata, "namespace"),
        text_in(metadata, "name"),
        text_in(metadata, "uid"),
        FAILING if obj.get("type") == "Warning" else PRESENT,
        last_occurrence(obj) or created,
        created,
        text_in(involved, "uid") if type(involved) is dict else "",
        text_in(obj, "message")[:MOST_REASON],
    )


def last_occurrence(obj: Object) -> float:
    """When an event happened last, by the first of its time fields that is set."""
    series = obj.get("series")
    times = [obj.get("lastTimestamp"), obj.get("eventTime"), obj.get("firstTimestamp")]
    if type(series) is dict:
        times.insert(0, series.get("lastObservedTime"))
    return next((time for value in times if (time := seconds(value))), 0.0)


def reduced(obj: Object) -> Object:
    """The object with as much as rows and trees are made of."""
    metadata = metadata_of(obj)
    reduced = {key: metadata[key] for key in _OBJECT_METADATA if key in metadata}
    annotations = metadata.get("annotations")
    if type(annotations) is dict:
        reduced["annotations"] = {key: annotations[key] for key in _OBJECT_ANNOTATIONS if key in annotations}
    spec, status = obj.get("spec"), obj.get("status")
    result: Object = {"apiVersion": obj.get("apiVersion"), "kind": obj.get("kind"), "metadata": reduced}
    if type(spec) is dict:
        result["spec"] = {key: spec[key] for key in _OBJECT_SPEC if key in spec}
    if type(status) is dict and "conditions" in status:
        result["status"] = {"conditions": status["conditions"]}
    return result
