"""Request metrics: one look-up and four additions per request.

Labels are bounded: unknown resources are counted under one name, or a client could create any number of
series.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import NamedTuple

from crossply.apiserver.endpoints.request_info import RequestInfo
from crossply.apiserver.served_resources import Registry

BOUNDS = (0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0, 60.0)
"""The bucket bounds of durations, in seconds."""

_APPLY = "application/apply-patch+"
_VERBS = {
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "apply": "APPLY",
    "get": "GET",
    "list": "LIST",
    "watch": "WATCH",
    "delete": "DELETE",
    "deletecollection": "DELETECOLLECTION",
}


class Labels(NamedTuple):
    """The labels of a request."""

    verb: str
    group: str
    version: str
    resource: str
    subresource: str
    scope: str


class Series:
    """The counters of one set of labels."""

    __slots__ = ("buckets", "codes", "seconds")

    def __init__(self) -> None:
        self.codes: dict[int, int] = {}
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0


_Question = tuple[str, str, str, str, str, bool, bool]


class Metrics:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._generation = -1
        self._known: dict[_Question, Series] = {}
        self.series: dict[Labels, Series] = {}
        self.inflight = {"mutating": 0, "readOnly": 0}
        """Requests being served, without watches."""
        self.open_watches = 0
        self.events: dict[tuple[str, str, str], int] = {}
        """Events sent to watches, by group, version and resource."""
        self.closed_watches: dict[str, int] = {}
        """Watches ended by the server, by reason."""
        self.too_many = 0
        """Requests refused because too many others were being served."""

    def count(self, info: RequestInfo, code: int, seconds: float, content_type: str = "") -> None:
        """Count a served request. An apply is counted apart from other patches."""
        if info.verb == "patch" and content_type.startswith(_APPLY):
            info = replace(info, verb="apply")
        if self._generation != self._registry.generation:
            self._known.clear()
            self._generation = self._registry.generation
        question = (
            info.verb,
            info.group,
            info.version,
            info.resource,
            info.subresource,
            bool(info.namespace),
            bool(info.name),
        )
        series = self._known.get(question)
        if series is None:
            series = self._find(info, question)
        series.codes[code] = series.codes.get(code, 0) + 1
        series.buckets[bisect_left(BOUNDS, seconds)] += 1
        series.seconds += seconds

    def count_events(self, group: str, version: str, resource: str, events: int) -> None:
        key = (group, version, resource)
        self.events[key] = self.events.get(key, 0) + events

    def count_closed_watch(self, reason: str) -> None:
        self.closed_watches[reason] = self.closed_watches.get(reason, 0) + 1

    def _find(self, info: RequestInfo, question: _Question) -> Series:
        labels = self._labels(info)
        series = self.series.get(labels)
        if series is None:
            series = self.series[labels] = Series()
        if labels.resource:
            self._known[question] = series
        return series

    def _labels(self, info: RequestInfo) -> Labels:
        verb = _VERBS.get(info.verb, "GET" if info.verb in ("get", "head") else "OTHER")
        resource = self._registry.find(info.group, info.resource) if info.resource else None
        version = resource.versions.get(info.version) if resource else None
        if version is None or (info.subresource and info.subresource not in version.subresources):
            return Labels(verb, "", "", "", "", "")
        scope = "resource" if info.name else "namespace" if info.namespace else "cluster"
        return Labels(verb, info.group, info.version, info.resource, info.subresource, scope)
