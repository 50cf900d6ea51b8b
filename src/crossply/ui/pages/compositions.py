"""Compositions: the pipeline as a picture, revisions and who is on them, and what a revision would change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from crossply.compose.engine_field_paths import machinery_at
from crossply.compose.object_metadata import labels_of, name_of
from crossply.control.kinds import COMPOSITION, FUNCTION, REVISION
from crossply.errors import CrossplyError
from crossply.kinds.composition_revision import COMPOSITION_NAME
from crossply.ui.cluster_view import ClusterView, composite_kind
from crossply.ui.page_types import Content, MissingRight, Navigation, PageNotFound, PageRequest, Route
from crossply.ui.plan_jobs import jobs_of
from crossply.ui.views.composition_rows import (
    RevisionRow,
    composites_by_revision,
    composition_rows,
    revision_table,
)
from crossply.ui.views.pipeline_picture import pipeline_picture
from crossply.ui.views.plan_summary import plan_summary
from crossply.ui.views.short_text import block
from crossply.values import Object


async def show_list(page: PageRequest) -> Content:
    """All Compositions by the kind that they are for."""
    compositions = await page.view.objects(COMPOSITION)
    functions = await functions_by_name(page.view)
    rows = composition_rows(compositions, functions, await _counts(page.view))
    return Content("compositions.html", {"rows": rows}, title="Compositions", topics=_TOPICS)


async def show(page: PageRequest) -> Content:
    """One Composition, or one of its revisions."""
    composition = await _composition(page)
    rows = await _revisions(page.view, composition)
    chosen = _chosen(rows, page.query.get("revision", ""))
    shown = chosen.object if chosen is not None else composition
    functions = await functions_by_name(page.view)
    values = {
        "name": name_of(composition),
        "picture": pipeline_picture(shown, functions),
        "revisions": rows,
        "chosen": chosen,
        "yaml_text": block(shown),
        "waiting": sum(row.composites for row in rows if not row.is_newest),
    }
    return Content("composition.html", values, title=f"Composition {name_of(composition)}", topics=_TOPICS)


async def plan(page: PageRequest) -> Content:
    """What would change if all composite resources of a Composition were composed by a revision."""
    composition = await _composition(page)
    rows = await _revisions(page.view, composition)
    revision = _chosen(rows, page.query.get("revision", ""))
    if revision is None:
        raise PageNotFound("the Composition has no such revision", hint="choose one on its page")
    jobs = jobs_of(page.viewer)
    is_new_request = page.http.method == "POST"
    job = jobs.start(page.client.config, composition, revision.object, is_new_request=is_new_request)
    values = {
        "name": name_of(composition),
        "revision": revision,
        "job": job,
        "summary": plan_summary(job.result) if job.result is not None else None,
        "composites": sum(row.composites for row in rows),
    }
    return Content("composition_plan.html", values, title=f"Plan of {revision.name}")


_TOPICS = (COMPOSITION.resource, REVISION.resource, FUNCTION.resource)


async def functions_by_name(view: ClusterView) -> dict[str, Object]:
    """The Functions that the viewer may see."""
    return {name_of(function): function for function in await view.readable_objects(FUNCTION)}


async def _composition(page: PageRequest) -> Object:
    name = page.match["name"]
    for composition in await page.view.objects(COMPOSITION):
        if name_of(composition) == name:
            return composition
    raise PageNotFound(f'there is no Composition "{name}"', hint="it may have been deleted")


async def _revisions(view: ClusterView, composition: Object) -> list[RevisionRow]:
    name = name_of(composition)
    revisions = await view.readable_objects(REVISION)
    if not revisions:
        return []
    own = [revision for revision in revisions if labels_of(revision).get(COMPOSITION_NAME) == name]
    return revision_table(own, await _used(view, composition))


async def _used(view: ClusterView, composition: Object) -> Counter[str]:
    """How many composite resources of a Composition are on each revision."""
    used: Counter[str] = Counter()
    try:
        definitions = await view.definitions()
    except MissingRight:
        return used
    for definition in definitions:
        type_ref = (composition.get("spec") or {}).get("compositeTypeRef") or {}
        if (type_ref.get("apiVersion"), type_ref.get("kind")) != definition.composite:
            continue
        kind = next(
            (kind for kind in await view.composites() if kind.kind == composite_kind(definition)), None
        )
        if kind is not None and not kind.refused:
            machinery = machinery_at(definition.machinery)
            used += composites_by_revision(kind.objects(), name_of(composition), machinery)
    return used


async def _counts(view: ClusterView) -> Counter[str]:
    """How many composite resources each Composition has."""
    counts: Counter[str] = Counter()
    try:
        definitions = {composite_kind(definition): definition for definition in await view.definitions()}
        kinds = await view.composites()
    except CrossplyError:
        return counts
    for kind in kinds:
        definition = definitions.get(kind.kind)
        if definition is not None:
            machinery = machinery_at(definition.machinery)
            counts.update(machinery.name_in(xr, "compositionRef") for xr in kind.objects())
    return counts


def _chosen(rows: Iterable[RevisionRow], name: str) -> RevisionRow | None:
    return next((row for row in rows if row.name == name), None)


ROUTES = (
    Route("GET", "/compositions", show_list),
    Route("GET", "/compositions/{name}", show),
    Route("GET", "/compositions/{name}/plan", plan),
    Route("POST", "/compositions/{name}/plan", plan, writes=False),
)
NAVIGATION = Navigation("Compositions", "/compositions", 40)
