"""Operations, and the CronOperations and WatchOperations that make them, with their history."""

from __future__ import annotations

from crossply.compose.object_metadata import name_of
from crossply.control.kinds import CRON_OPERATION, FUNCTION, OPERATION, WATCH_OPERATION
from crossply.ui.page_types import Content, Navigation, PageNotFound, PageRequest, Route
from crossply.ui.pages.compositions import functions_by_name
from crossply.ui.views.object_health import conditions_of
from crossply.ui.views.operation_rows import operation_row, operation_rows, parent_row
from crossply.ui.views.pipeline_picture import operation_picture
from crossply.ui.views.short_text import block

KINDS = {kind.plural: kind for kind in (OPERATION, CRON_OPERATION, WATCH_OPERATION)}
_SHOWN = 100
_TOPICS = {FUNCTION.resource, *(kind.resource for kind in KINDS.values())}


async def show_list(page: PageRequest) -> Content:
    """What runs by a schedule or a watch, and the latest Operations."""
    view = await page.view.watch(OPERATION)
    rows = operation_rows(await page.view.readable_objects(OPERATION))
    parents = [
        parent_row(obj, rows)
        for kind in (CRON_OPERATION, WATCH_OPERATION)
        for obj in await page.view.readable_objects(kind)
    ]
    values = {
        "parents": sorted(parents, key=lambda row: (row.kind, row.name)),
        "operations": rows[:_SHOWN],
        "left_out": max(len(rows) - _SHOWN, 0),
        "served": view.is_served,
        "refused": view.refused,
    }
    return Content("operations.html", values, title="Operations", topics=_TOPICS)


async def show(page: PageRequest) -> Content:
    """One Operation, CronOperation or WatchOperation."""
    kind = KINDS.get(page.match["plural"])
    if kind is None:
        raise PageNotFound("there is no such kind of operation")
    name = page.match["name"]
    obj = next((obj for obj in await page.view.readable_objects(kind) if name_of(obj) == name), None)
    if obj is None:
        raise PageNotFound(
            f'there is no {kind.kind} "{name}"', hint="finished Operations are deleted in time"
        )
    rows = operation_rows(await page.view.readable_objects(OPERATION))
    values = {
        "kind": kind,
        "name": name,
        "operation": operation_row(obj) if kind == OPERATION else None,
        "parent": None if kind == OPERATION else parent_row(obj, rows),
        "picture": operation_picture(obj, await functions_by_name(page.view)),
        "conditions": list(conditions_of(obj).values()),
        "yaml_text": block(obj),
    }
    return Content("operation.html", values, title=f"{kind.kind} {name}", topics=_TOPICS)


ROUTES = (
    Route("GET", "/operations", show_list),
    Route("GET", "/operations/{plural}/{name}", show),
)
NAVIGATION = Navigation("Operations", "/operations", 70)
