"""Writes to one resource, with the rights of the viewer: pause, resume, reconcile now, delete.

The server refuses them without --allow-writes and without the CSRF token, before these handlers run.
"""

from __future__ import annotations

from aiohttp import web

from crossply.compose.object_metadata import PAUSED_ANNOTATION, finalizers_of, uid_of
from crossply.kube.failures import Forbidden
from crossply.kube.kind import Kind
from crossply.ui.composed_tree import TreeBuilder, TreeNode
from crossply.ui.object_state_and_row import row_of
from crossply.ui.page_types import Content, MissingRight, PageRequest, Route
from crossply.ui.pages.resource import PATH, load
from crossply.values import Object
from crossply.values.timestamps import current_timestamp

REQUESTED_AT = "crossplane.io/reconcile-requested-at"
MANAGER = "crossply-ui"


async def pause(page: PageRequest) -> Content:
    return await _annotate(page, {PAUSED_ANNOTATION: "true"})


async def resume(page: PageRequest) -> Content:
    return await _annotate(page, {PAUSED_ANNOTATION: None})


async def reconcile(page: PageRequest) -> Content:
    return await _annotate(page, {REQUESTED_AT: current_timestamp()})


async def plan_deletion(page: PageRequest) -> Content:
    """What goes if the resource is deleted."""
    kind, obj = await load(page)
    builder = TreeBuilder(page.view, (), ungrouped=True)
    tree = await builder.build(obj, row_of(obj))
    gone = list(_below(tree))
    values = {
        "kind": kind,
        "row": tree.row,
        "gone": gone,
        "uid": uid_of(obj),
        "finalizers": finalizers_of(obj),
        "is_cut": builder.is_cut,
        "back": page.http.path.removesuffix("/delete"),
    }
    return Content("delete.html", values, f"Delete {tree.row.name}")


async def delete(page: PageRequest) -> Content:
    """Delete the object that the plan was shown for, not another one of its name."""
    kind, obj = await load(page)
    uid = str((await page.http.post()).get("uid", ""))
    if uid != uid_of(obj):
        raise web.HTTPConflict(text="This is not the object that the plan was made for any more.\n")
    row = row_of(obj)
    try:
        await page.client.delete(kind, row.name, row.namespace, propagation="Foreground", uid=uid)
    except Forbidden:
        raise MissingRight("delete", kind.resource, row.namespace) from None
    raise web.HTTPSeeOther(f"/composites?kind={kind.kind}.{kind.group}")


async def _annotate(page: PageRequest, annotations: dict[str, str | None]) -> Content:
    kind, obj = await load(page)
    await _patch(page, kind, obj, {"metadata": {"annotations": annotations}})
    raise web.HTTPSeeOther(page.http.path.rpartition("/")[0])


async def _patch(page: PageRequest, kind: Kind, obj: Object, patch: Object) -> None:
    row = row_of(obj)
    try:
        await page.client.patch_merge(kind, row.name, patch, row.namespace, MANAGER)
    except Forbidden:
        raise MissingRight("patch", kind.resource, row.namespace) from None


def _below(node: TreeNode) -> list[TreeNode]:
    nodes = []
    for child in node.children:
        nodes += [child, *_below(child)]
    return nodes


ROUTES = (
    Route("GET", f"{PATH}/delete", plan_deletion),
    Route("POST", f"{PATH}/delete", delete),
    Route("POST", f"{PATH}/pause", pause),
    Route("POST", f"{PATH}/resume", resume),
    Route("POST", f"{PATH}/reconcile", reconcile),
)
