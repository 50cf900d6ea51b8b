"""The page of one resource: its tree or graph, and a drawer with everything about one node."""

from __future__ import annotations

from crossply.ui.object_state import row_of
from crossply.ui.page import Content, PageNotFound, PageRequest, Route


async def show(page: PageRequest) -> Content:
    group, kind_name, namespace, name = (page.match[key] for key in ("group", "kind", "namespace", "name"))
    group, namespace = (
        group.replace("core", "") if group == "core" else group,
        namespace.replace("-", "", 1) if namespace == "-" else namespace,
    )
    kind = await page.view.kind_named(group, kind_name)
    obj = None if kind is None else await page.view.read(kind, namespace, name)
    if kind is None or obj is None:
        raise PageNotFound(f"there is no {kind_name} {name}")
    values = {"kind": kind, "object": obj, "row": row_of(obj)}
    return Content("resource.html", values, f"{kind_name} {name}", {kind.resource})


ROUTES = (Route("GET", "/resources/{group}/{kind}/{namespace}/{name}", show),)
