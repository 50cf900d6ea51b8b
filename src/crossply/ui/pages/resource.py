"""The page of one resource: its tree or graph, and a drawer about one node. Every state is an address.

`open` has the ids of opened nodes, `filter` a text, `view=graph` shows the picture, `node` opens the drawer
and `tab` one of its sheets.
"""

from __future__ import annotations

from aiohttp import web

from crossply.kube.kind import Kind
from crossply.resource_tree.node import Reference
from crossply.ui.cluster_view import EVERYTHING_SYNCED
from crossply.ui.composed_tree import TreeBuilder
from crossply.ui.drawer import TABS, sheet
from crossply.ui.object_state_and_row import row_of
from crossply.ui.object_yaml import whole_yaml
from crossply.ui.page_types import Content, PageRequest, Route
from crossply.ui.resource_explanation import explained_cause
from crossply.ui.tree_graph import draw
from crossply.values import Object

PATH = "/resources/{group}/{kind}/{namespace}/{name}"


async def load(page: PageRequest) -> tuple[Kind, Object]:
    """The resource of the address; raises PageNotFound and MissingRight."""
    group, kind, namespace, name = (page.match[key] for key in ("group", "kind", "namespace", "name"))
    reference = Reference(
        "" if group == "core" else f"{group}/", kind, name, "" if namespace == "-" else namespace
    )
    return await page.view.load(reference)


async def show(page: PageRequest) -> Content:
    kind, obj = await load(page)
    opened = frozenset(page.query.get("open", "").split(",")) - {""}
    builder = TreeBuilder(page.view, opened, page.query.get("filter", "").strip())
    row = row_of(obj)
    tree = await builder.build(obj, row)
    selected = parse_node(page.query.get("node", ""))
    values = {
        "kind": kind,
        "row": row,
        "tree": tree,
        "toggled": lambda node: ",".join(sorted(opened ^ {node.id})),
        "is_cut": builder.is_cut,
        "cause": await explained_cause(page, kind, obj),
        "graph": draw(tree) if page.query.get("view") == "graph" else "",
        "selected": selected,
        "tabs": TABS,
        "drawer": None,
        "path": page.http.path,
    }
    if selected is not None:
        tab = page.query.get("tab", "")
        values["drawer"] = await sheet(page, selected, tab if tab in TABS else "conditions")
    topics = {kind.resource, EVERYTHING_SYNCED, *builder.kinds, "events"}
    return Content("resource.html", values, f"{kind.kind} {row.name}", topics)


async def graph(page: PageRequest) -> web.Response:
    """The picture as a file."""
    _, obj = await load(page)
    opened = frozenset(page.query.get("open", "").split(",")) - {""}
    tree = await TreeBuilder(page.view, opened).build(obj, row_of(obj))
    return _file(draw(tree), "image/svg+xml", f"{page.match['name']}.svg")


async def yaml(page: PageRequest) -> web.Response:
    """The whole object as a file."""
    _, obj = await load(page)
    return _file(whole_yaml(obj), "application/yaml", f"{page.match['name']}.yaml")


def _file(text: str, content_type: str, name: str) -> web.Response:
    safe = "".join(character if character.isalnum() or character in "-." else "_" for character in name)
    headers = {"Content-Disposition": f'attachment; filename="{safe}"'}
    return web.Response(text=text, content_type=content_type, headers=headers)


def parse_node(text: str) -> Reference | None:
    parts = text.split("/")
    if len(parts) != 4 or not parts[3]:
        return None
    group, kind, namespace, name = parts
    api_version = "" if group == "core" else f"{group}/"
    return Reference(api_version, kind, name, "" if namespace == "-" else namespace)


ROUTES = (
    Route("GET", PATH, show),
    Route("GET", f"{PATH}/graph.svg", graph),
    Route("GET", f"{PATH}/object.yaml", yaml),
)
