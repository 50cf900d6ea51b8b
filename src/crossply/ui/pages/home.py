"""The overview: what needs attention first, then counts, activity, functions and packages.

Activity is what happened lately: the latest events and recorded runs, together by time.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter
from typing import NamedTuple

from crossply.control.kinds import COMPOSITION, CONFIGURATION, DEFINITION, FUNCTION, PROVIDER
from crossply.diagnosis.model import Cause
from crossply.errors import CrossplyError
from crossply.kube.core_kinds import EVENT
from crossply.kube.kind import Kind
from crossply.resource_tree.node import Reference
from crossply.runs.client import RunClient
from crossply.ui.causes import CausesInMemory
from crossply.ui.cluster_view import EVERYTHING_SYNCED, ClusterView
from crossply.ui.drawer import event_line
from crossply.ui.kind_informer import KindView
from crossply.ui.object_state_and_row import ATTENTION, FAILING, ORDER, PRESENT, READY, Row
from crossply.ui.page_types import Content, Navigation, PageRequest, Route
from crossply.values.api_version import api_group

MOST_ATTENTION = 25
MOST_PACKAGES = 10
PACKAGE_KINDS = (PROVIDER, FUNCTION, CONFIGURATION)
_MOST_ACTIVITY = 12


class Attention(NamedTuple):
    """An object that needs attention."""

    kind: Kind
    row: Row
    why: str


class KindCount(NamedTuple):
    kind: Kind
    total: int
    states: list[tuple[str, int]]
    refused: bool


async def show(page: PageRequest) -> Content:
    views = await page.view.composites()
    readable = [view for view in views if not view.refused]
    totals = sum((view.counts for view in readable), Counter[str]())
    activity, packages, figures, _ = await asyncio.gather(
        _latest_activity(page.view),
        package_views(page.view),
        page.viewer.metrics.figures(page.client),
        page.view.watch(COMPOSITION),
    )
    causes = CausesInMemory(page.view, await page.view.definitions())
    values = {
        "activity": activity,
        "packages": [kind_count(view) for view in packages],
        "figures": figures,
        "totals": [(state, totals[state]) for state in ORDER if totals[state]],
        "total": sum(totals.values()),
        "unhealthy": needs_attention(causes, packages, MOST_PACKAGES),
        "attention": needs_attention(causes, readable, MOST_ATTENTION),
        "attention_composites": sum(len(view.attention) for view in readable),
        "attention_total": sum(len(view.attention) for view in (*readable, *packages)),
        "reading": [view.kind for view in views if view.is_reading],
        "kinds": [kind_count(view) for view in views],
    }
    kinds = (DEFINITION, EVENT, *PACKAGE_KINDS, *(view.kind for view in views))
    return Content("home.html", values, "Overview", {EVERYTHING_SYNCED, *(kind.resource for kind in kinds)})


async def package_views(cluster: ClusterView) -> list[KindView]:
    """Providers, Functions and Configurations, as far as they are served."""
    views = await asyncio.gather(*(cluster.watch(kind) for kind in PACKAGE_KINDS))
    return [view for view in views if view.is_served]


def needs_attention(causes: CausesInMemory, views: list[KindView], most: int) -> list[Attention]:
    """What needs attention: the worst and the latest first."""
    rows = (
        (ATTENTION.index(row.state), -row.since, row.namespace, row.name, view)
        for view in views
        for key in view.attention
        if (row := view.row(*key)) is not None
    )
    worst = heapq.nsmallest(most, rows, key=lambda entry: entry[:4])
    entries = []
    for _, _, namespace, name, view in worst:
        row, obj = view.row(namespace, name), view.object(namespace, name)
        if row is not None and obj is not None:
            entries.append(Attention(view.kind, row, why(causes.of(view.kind, obj), row, view.kind)))
    return entries


def why(cause: Cause | None, row: Row, kind: Kind) -> str:
    """The deepest cause that is known, with the resource it is about where that is another one."""
    if cause is None or not cause.sentence:
        return row.reason
    if (cause.ref.kind, cause.ref.name) == (kind.kind, row.name):
        return cause.sentence
    return f"{cause.ref.kind} {cause.ref.name}: {cause.sentence}"


def kind_count(view: KindView) -> KindCount:
    states = [(state, view.counts[state]) for state in ORDER if view.counts[state]]
    return KindCount(view.kind, len(view), states, view.refused)


class _Activity(NamedTuple):
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


async def _latest_activity(view: ClusterView) -> list[_Activity]:
    """A few entries, the latest first; what the viewer may not read is left out."""
    entries = [*await _events(view), *await _runs(view)]
    return heapq.nlargest(_MOST_ACTIVITY, entries, key=lambda entry: entry.when)


async def _events(view: ClusterView) -> list[_Activity]:
    events = await view.events()
    if events.refused:
        return []
    latest = heapq.nlargest(_MOST_ACTIVITY, events.rows(), key=lambda row: row.since)
    objects = [events.object(row.namespace, row.name) for row in latest]
    lines = [event_line(obj) for obj in objects if obj is not None]
    return [
        _Activity(line.when, FAILING if line.warning else PRESENT, line.reason, line.about, line.message)
        for line in lines
    ]


async def _runs(view: ClusterView) -> list[_Activity]:
    try:
        runs = await RunClient(view.client).list_runs(limit=_MOST_ACTIVITY)
    except CrossplyError:
        return []
    return [
        _Activity(
            run.started,
            FAILING if run.outcome == "Failed" else READY,
            run.outcome,
            Reference(run.subject.api_version, run.subject.kind, run.subject.name, run.subject.namespace),
            run.problem or ", ".join(run.changes) or ", ".join(run.triggers),
            run.id,
        )
        for run in runs
    ]


ROUTES = (Route("GET", "/", show),)
NAVIGATION = Navigation("Overview", "/", 0)
