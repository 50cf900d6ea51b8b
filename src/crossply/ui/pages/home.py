"""The overview: what needs attention first, then counts, activity, functions and packages."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import NamedTuple

from crossply.kube.kind import Kind
from crossply.ui.kind_view import KindView
from crossply.ui.object_state import ATTENTION, ORDER, Row
from crossply.ui.page import Content, Navigation, PageRequest, Route

MOST_ATTENTION = 25


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
    values = {
        "totals": [(state, totals[state]) for state in ORDER if totals[state]],
        "total": sum(totals.values()),
        "attention": needs_attention(readable, MOST_ATTENTION),
        "attention_total": sum(len(view.attention) for view in readable),
        "kinds": [kind_count(view) for view in views],
    }
    topics = {"compositeresourcedefinitions.apiextensions.crossplane.io"}
    return Content("home.html", values, "Overview", topics | {view.kind.resource for view in views})


def needs_attention(views: list[KindView], most: int) -> list[Attention]:
    """What needs attention: composite resources at the top of their trees, the worst and the latest first."""
    rows = (
        (ATTENTION.index(row.state), -row.since, view.kind, row)
        for view in views
        for key in view.attention
        if (row := view.row(*key)) is not None
    )
    worst = heapq.nsmallest(most, rows)
    return [Attention(kind, row, row.reason) for _, _, kind, row in worst]


def kind_count(view: KindView) -> KindCount:
    states = [(state, view.counts[state]) for state in ORDER if view.counts[state]]
    return KindCount(view.kind, len(view), states, view.refused)


ROUTES = (Route("GET", "/", show),)
NAVIGATION = Navigation("Overview", "/", 0)
