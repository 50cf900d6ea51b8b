"""All composite resources and claims: filtered by kind, state and text, page by page."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from crossply.kube.kind import Kind
from crossply.ui.kind_informer import KindView
from crossply.ui.object_state_and_row import ATTENTION, ORDER, WORDS, Row
from crossply.ui.page_types import Content, Navigation, PageRequest, Route

PAGE = 100
SORTED = {state: index for index, state in enumerate(ORDER)}
Listed = tuple[Kind, Row]


async def show(page: PageRequest) -> Content:
    views = [*await page.view.composites(), *await page.view.claims()]
    kind, state, text = (page.query.get(key, "") for key in ("kind", "state", "q"))
    number = max(1, int(page.query.get("page", "1"))) if page.query.get("page", "1").isdigit() else 1
    chosen = [view for view in views if kind in ("", _name(view.kind))]
    listed = list(_matching(chosen, state, text.strip().lower()))
    first = (number - 1) * PAGE
    rows = heapq.nsmallest(first + PAGE, listed, key=_order)[first:]
    values = {
        "rows": rows,
        "matching": len(listed),
        "number": number,
        "pages": -(-len(listed) // PAGE),
        "kinds": sorted({_name(view.kind) for view in views}),
        "states": WORDS,
        "reading": [view.kind for view in chosen if view.is_reading],
        "hidden": [view.kind for view in chosen if view.refused],
        "chosen": {"kind": kind, "state": state, "q": text},
    }
    return Content("composites.html", values, "Resources", {view.kind.resource for view in chosen})


def _name(kind: Kind) -> str:
    return f"{kind.kind}.{kind.group}"


def _matching(views: list[KindView], state: str, text: str) -> Iterator[Listed]:
    for view in views:
        if view.refused:
            continue
        for row in view.rows():
            if state == "attention":
                if row.state not in ATTENTION:
                    continue
            elif state and row.state != state:
                continue
            if text and text not in f"{row.namespace}/{row.name}".lower():
                continue
            yield view.kind, row


def _order(listed: Listed) -> tuple[int, str, str, str]:
    kind, row = listed
    return SORTED[row.state], kind.kind, row.namespace, row.name


ROUTES = (Route("GET", "/composites", show),)
NAVIGATION = Navigation("Resources", "/composites", 10)
