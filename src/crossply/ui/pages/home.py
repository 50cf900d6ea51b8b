"""The overview: what needs attention first, then counts, activity, functions and packages."""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter
from typing import NamedTuple

from crossply.control.kinds import CONFIGURATION, DEFINITION, FUNCTION, PROVIDER
from crossply.kube.core_kinds import EVENT
from crossply.kube.kind import Kind
from crossply.ui.activity import latest_activity
from crossply.ui.causes import cause_in_memory
from crossply.ui.cluster_view import EVERYTHING_SYNCED, ClusterView
from crossply.ui.kind_view import KindView
from crossply.ui.object_state import ATTENTION, ORDER, Row
from crossply.ui.page import Content, Navigation, PageRequest, Route
from crossply.values import Object

MOST_ATTENTION = 25
PACKAGE_KINDS = (PROVIDER, FUNCTION, CONFIGURATION)


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
    activity, packages, figures = await asyncio.gather(
        latest_activity(page.view), package_counts(page), page.viewer.metrics.figures(page.client)
    )
    values = {
        "activity": activity,
        "packages": packages,
        "figures": figures,
        "totals": [(state, totals[state]) for state in ORDER if totals[state]],
        "total": sum(totals.values()),
        "attention": needs_attention(page.view, readable, MOST_ATTENTION),
        "attention_total": sum(len(view.attention) for view in readable),
        "reading": [view.kind for view in views if view.is_reading],
        "kinds": [kind_count(view) for view in views],
    }
    kinds = (DEFINITION, EVENT, *PACKAGE_KINDS, *(view.kind for view in views))
    return Content("home.html", values, "Overview", {EVERYTHING_SYNCED, *(kind.resource for kind in kinds)})


async def package_counts(page: PageRequest) -> list[KindCount]:
    """Providers, Functions and Configurations by state, as far as they are served."""
    views = await asyncio.gather(*(page.view.watch(kind) for kind in PACKAGE_KINDS))
    return [kind_count(view) for view in views if view.is_served]


def needs_attention(cluster: ClusterView, views: list[KindView], most: int) -> list[Attention]:
    """What needs attention: composite resources at the top of their trees, the worst and the latest first."""
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
            entries.append(Attention(view.kind, row, why(cluster, obj, row)))
    return entries


def why(cluster: ClusterView, obj: Object, row: Row) -> str:
    """The deepest cause that is known, with the resource it is about where that is another one."""
    cause = cause_in_memory(cluster, obj)
    if cause is None or not cause.sentence:
        return row.reason
    if (cause.ref.kind, cause.ref.name) == (obj.get("kind"), row.name):
        return cause.sentence
    return f"{cause.ref.kind} {cause.ref.name}: {cause.sentence}"


def kind_count(view: KindView) -> KindCount:
    states = [(state, view.counts[state]) for state in ORDER if view.counts[state]]
    return KindCount(view.kind, len(view), states, view.refused)


ROUTES = (Route("GET", "/", show),)
NAVIGATION = Navigation("Overview", "/", 0)
