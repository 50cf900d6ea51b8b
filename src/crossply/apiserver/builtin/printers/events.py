"""The cells of Events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from crossply.apiserver.builtin.event_conversion import to_core
from crossply.apiserver.builtin.printers.metadata import name_of
from crossply.apiserver.tables.human_duration import since
from crossply.values import Object


def _event(obj: Object, now: datetime) -> list[Any]:
    event = to_core(obj)
    involved = event.get("involvedObject") or {}
    first = since(event.get("firstTimestamp") or event.get("eventTime"), now)
    last = since(event["lastTimestamp"], now) if event.get("lastTimestamp") else first
    count = event.get("count") or 1
    series = event.get("series")
    if series:
        last, count = since(series.get("lastObservedTime"), now), series.get("count", 0)
    kind = str(involved.get("kind", "")).lower()
    return [
        last,
        event.get("type", ""),
        event.get("reason", ""),
        f"{kind}/{involved['name']}" if involved.get("name") else kind,
        involved.get("fieldPath", ""),
        _source(event),
        str(event.get("message", "")).strip(),
        first,
        count,
        name_of(event),
    ]


def _source(event: Object) -> str:
    source = event.get("source") or {}
    component = source.get("component") or event.get("reportingComponent") or ""
    instance = source.get("host") or event.get("reportingInstance") or ""
    return f"{component}, {instance}" if instance else str(component)


CELLS = {("", "events"): _event, ("events.k8s.io", "events"): _event}
