"""The /metrics page: apiserver_* metrics have Kubernetes' meaning, crossply_* are our own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from crossply.apiserver.audit import AuditLog
from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.http.connection_acceptor import Connections
from crossply.apiserver.metrics.request_metrics import BOUNDS, Labels, Metrics
from crossply.apiserver.storage import Store
from crossply.record.process_metrics import process_families
from crossply.record.prometheus import CONTENT_TYPE, Family, Histogram, family_text, histogram_text

_DURATION = "apiserver_request_duration_seconds"


@dataclass(frozen=True, slots=True)
class Sources:
    metrics: Metrics
    store: Store
    connections: Connections
    audit: AuditLog | None = None
    database: str = ""
    """The database file, if there is one."""


def metrics_page(sources: Sources) -> Reply:
    metrics = sources.metrics
    texts = [family_text(family) for family in _requests(metrics)]
    texts.append(histogram_text(_DURATION, "Time from a request to its answer in seconds.", _times(metrics)))
    for families in (_watches(metrics), _storage(sources), _edges(sources), process_families()):
        texts += [family_text(family) for family in families]
    return Reply(200, "".join(texts).encode(), CONTENT_TYPE)


def _requests(metrics: Metrics) -> Iterator[Family]:
    counted = [
        ({**_named(labels), "code": str(code)}, count)
        for labels, series in metrics.series.items()
        for code, count in series.codes.items()
    ]
    yield Family("apiserver_request_total", "counter", "Requests answered.", counted)
    inflight = [({"request_kind": kind}, count) for kind, count in metrics.inflight.items()]
    yield Family("apiserver_current_inflight_requests", "gauge", "Requests under way.", inflight)
    yield _single(
        "crossply_requests_refused_total", "counter", "Requests answered with 429.", metrics.too_many
    )


def _times(metrics: Metrics) -> Iterator[Histogram]:
    for labels, series in metrics.series.items():
        yield Histogram(_named(labels), BOUNDS, series.buckets, series.seconds)


def _named(labels: Labels) -> dict[str, str]:
    return {**labels._asdict(), "component": "apiserver"}


def _watches(metrics: Metrics) -> Iterator[Family]:
    watching = [({"verb": "WATCH", "component": "apiserver"}, metrics.open_watches)]
    yield Family("apiserver_longrunning_requests", "gauge", "Watches under way.", watching)
    sent = [
        ({"group": group, "version": version, "resource": resource}, count)
        for (group, version, resource), count in metrics.events.items()
    ]
    yield Family("apiserver_watch_events_total", "counter", "Events sent to watches.", sent)
    cut = [({"reason": reason}, count) for reason, count in metrics.closed_watches.items()]
    yield Family("crossply_watches_ended_total", "counter", "Watches ended by the server.", cut)


def _storage(sources: Sources) -> Iterator[Family]:
    store = sources.store
    objects = [({"resource": key}, store.count(key)) for key in sorted(store.resources())]
    yield Family("apiserver_storage_objects", "gauge", "Objects stored.", objects)
    if sources.database and os.path.exists(sources.database):
        size = os.path.getsize(sources.database)
        named = [({"storage_cluster_id": "sqlite"}, size)]
        yield Family("apiserver_storage_size_bytes", "gauge", "Size of the database.", named)
    yield _single("crossply_storage_commits_total", "counter", "Group commits made durable.", store.commits)
    yield _single("crossply_storage_revision", "gauge", "The newest durable revision.", store.revision)
    yield _single("crossply_storage_compacted_revision", "gauge", "History begins after it.", store.compacted)


def _edges(sources: Sources) -> Iterator[Family]:
    connections = sources.connections
    yield _single("crossply_connections", "gauge", "Connections open.", len(connections))
    yield _single("crossply_connections_limit", "gauge", "Connections allowed.", connections.most)
    removed = [
        ({"reason": "refused"}, connections.refused),
        ({"reason": "evicted"}, connections.evicted),
        ({"reason": "stalled"}, connections.stalled),
    ]
    yield Family("crossply_connections_cut_total", "counter", "Connections that were cut.", removed)
    if sources.audit is not None:
        yield _single("apiserver_audit_event_total", "counter", "Audit events made.", sources.audit.logged)
        yield _single("apiserver_audit_error_total", "counter", "Audit events lost.", sources.audit.dropped)


def _single(name: str, kind: str, meaning: str, value: float) -> Family:
    return Family(name, kind, meaning, [({}, value)])
