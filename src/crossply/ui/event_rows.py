"""Events as rows: the state is that of their type, the owner the object that they are about. Pure."""

from __future__ import annotations

from crossply.compose.object_metadata import metadata_of, text_in
from crossply.ui.object_state import FAILING, MOST_REASON, PRESENT, Row, seconds
from crossply.values import Object

_FIELDS = (
    "involvedObject",
    "reason",
    "type",
    "count",
    "lastTimestamp",
    "firstTimestamp",
    "eventTime",
    "series",
)
_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
_MOST_MESSAGE = 4000


def reduced_event(obj: Object) -> Object:
    """What is kept of an event."""
    metadata = metadata_of(obj)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {key: metadata[key] for key in _METADATA if key in metadata},
        "message": text_in(obj, "message")[:_MOST_MESSAGE],
        **{key: obj[key] for key in _FIELDS if obj.get(key) is not None},
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
