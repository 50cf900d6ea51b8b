"""Definitions: what kinds there are, and the schema of each, field by field."""

from __future__ import annotations

from crossply.compose.object_metadata import name_of
from crossply.control.kinds import COMPOSITION, DEFINITION
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition, parse_definition
from crossply.ui.cluster_view import ClusterView
from crossply.ui.object_state_and_row import row_of
from crossply.ui.page_types import Content, Navigation, PageNotFound, PageRequest, Route
from crossply.ui.playground.platform import Platform, schema_at
from crossply.ui.views.schema_fields import SchemaField, schema_fields
from crossply.ui.views.short_text import block
from crossply.values import Object


async def show_list(page: PageRequest) -> Content:
    """All definitions."""
    counts = {kind.kind.resource: kind for kind in await page.view.composites()}
    compositions = await compositions_of(page.view)
    rows = []
    for obj in await page.view.objects(DEFINITION):
        definition = _parsed(obj)
        if definition is None:
            continue
        kind = counts.get(f"{definition.names.plural}.{definition.group}")
        used = sum(_type_of(composition) == definition.composite for composition in compositions)
        rows.append((definition, row_of(obj), None if kind is None or kind.refused else len(kind), used))
    rows.sort(key=lambda row: row[0].name)
    topics = {DEFINITION.resource, COMPOSITION.resource, *counts}
    return Content("definitions.html", {"rows": rows}, title="Definitions", topics=topics)


async def show(page: PageRequest) -> Content:
    """One definition with its schema."""
    obj, definition = await definition_named(page)
    version = page.query.get("version", "") or definition.referenceable_version
    problem, fields = "", tuple[SchemaField, ...]()
    try:
        fields = schema_fields(schema_at(obj, f"{definition.group}/{version}"))
    except CrossplyError as caught:
        problem = str(caught)
    values = {
        "definition": definition,
        "row": row_of(obj),
        "version": version,
        "fields": [field for field in fields if field.name in ("spec", "status")],
        "problem": problem,
        "compositions": Platform([obj], await compositions_of(page.view), ()).compositions_of(obj),
        "yaml_text": block(obj),
    }
    return Content(
        "definition.html", values, title=f"Definition {definition.name}", topics={DEFINITION.resource}
    )


async def definition_named(page: PageRequest) -> tuple[Object, Definition]:
    """The definition that the address names."""
    name = page.match["name"]
    for obj in await page.view.objects(DEFINITION):
        definition = _parsed(obj)
        if name_of(obj) == name and definition is not None:
            return obj, definition
    raise PageNotFound(f'there is no definition "{name}"', hint="it may have been deleted")


async def compositions_of(view: ClusterView) -> list[Object]:
    """The Compositions that the viewer may see."""
    return await view.readable_objects(COMPOSITION)


def _parsed(obj: Object) -> Definition | None:
    try:
        return parse_definition(obj)
    except CrossplyError:
        return None


def _type_of(composition: Object) -> tuple[str, str]:
    spec = composition.get("spec")
    type_ref = spec.get("compositeTypeRef") if isinstance(spec, dict) else None
    type_ref = type_ref if isinstance(type_ref, dict) else {}
    return str(type_ref.get("apiVersion")), str(type_ref.get("kind"))


ROUTES = (
    Route("GET", "/definitions", show_list),
    Route("GET", "/definitions/{name}", show),
)
NAVIGATION = Navigation("Definitions", "/definitions", 50)
