"""What happened lately: the latest events and recorded runs, together by time."""

from __future__ import annotations

import heapq
from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.resource_tree.node import Reference
from crossply.runs.client import RunClient
from crossply.ui.cluster_view import ClusterView
from crossply.ui.drawer import event_line
from crossply.ui.object_state import FAILING, PRESENT, READY
from crossply.values.api_version import api_group

MOST = 12


class Activity(NamedTuple):
    when: float
    state: str
    word: str
    about: Reference
    text: str
    run: str = ""
    """The id of a run; empty for an event."""

    @property
    def group(self) -> str:
        return api_group(self.about.api_version)


async def latest_activity(view: ClusterView) -> list[Activity]:
    """At most MOST entries, the latest first; what the viewer may not read is left out."""
    entries = [*await _events(view), *await _runs(view)]
    return heapq.nlargest(MOST, entries, key=lambda entry: entry.when)


async def _events(view: ClusterView) -> list[Activity]:
    events = await view.events()
    if events.refused:
        return []
    latest = heapq.nlargest(MOST, events.rows(), key=lambda row: row.since)
    objects = [events.object(row.namespace, row.name) for row in latest]
    lines = [event_line(obj) for obj in objects if obj is not None]
    return [
        Activity(line.when, FAILING if line.warning else PRESENT, line.reason, line.about, line.message)
        for line in lines
    ]


async def _runs(view: ClusterView) -> list[Activity]:
    try:
        runs = await RunClient(view.client).list_runs(limit=MOST)
    except CrossplyError:
        return []
    return [
        Activity(
            run.started,
            FAILING if run.outcome == "Failed" else READY,
            run.outcome,
            Reference(run.subject.api_version, run.subject.kind, run.subject.name, run.subject.namespace),
            run.problem or ", ".join(run.changes) or ", ".join(run.triggers),
            run.id,
        )
        for run in runs
    ]
