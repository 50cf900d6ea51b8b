"""The drawer: details of one resource, rendered when it is opened."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from crossply.compose.object_metadata import (
    RESOURCE_NAME_ANNOTATION,
    annotations_of,
    controller_of,
    text_in,
    uid_of,
)
from crossply.diagnosis.model import Cause
from crossply.kube.kind import Kind
from crossply.provenance.field_reports import report_fields
from crossply.provenance.model import COMPOSITE_STATUS, Provenance
from crossply.resource_tree.composite_tree import child_references
from crossply.resource_tree.node import Node, Reference
from crossply.runs.model import Run
from crossply.runs.run_provenance import explain_run
from crossply.ui.cluster_view import ClusterView
from crossply.ui.object_state_and_row import Condition, Row, conditions_of, last_occurrence, row_of
from crossply.ui.object_yaml import shown_yaml, without_secret_values
from crossply.ui.page_types import PageNotFound, PageRequest
from crossply.ui.relations import own_relations, usages_of
from crossply.ui.resource_drift import desired_in, drift, latest_run, latest_runs
from crossply.ui.resource_explanation import explained_cause
from crossply.values import Object
from crossply.values.api_version import api_group

TABS = {
    "conditions": "Conditions",
    "fields": "Fields",
    "difference": "Difference",
    "events": "Events",
    "yaml": "YAML",
    "relations": "Relations",
}
MOST_EVENTS = 100
MOST_FIELDS = 500
UNCOMPOSED = "-"
"""No resource of a pipeline has this name."""
MOST_OBJECTS = 2000


class EventLine(NamedTuple):
    when: float
    warning: bool
    reason: str
    message: str
    number: int
    about: Reference

    @property
    def group(self) -> str:
        return api_group(self.about.api_version)


class Drawer(NamedTuple):
    """What the template shows."""

    tab: str
    kind: Kind
    row: Row
    resource_name: str
    cause: Cause | None
    sheet: dict[str, Any]


async def sheet(page: PageRequest, reference: Reference, tab: str) -> Drawer | None:
    """The drawer of a resource; None where it is gone."""
    try:
        kind, obj = await page.view.load(reference)
    except PageNotFound:
        return None
    content = await _SHEETS[tab](page, kind, obj)
    name = annotations_of(obj).get(RESOURCE_NAME_ANNOTATION, "")
    cause = await explained_cause(page, kind, obj) if tab == "conditions" else None
    return Drawer(tab, kind, row_of(obj), name, cause, content)


async def _conditions(page: PageRequest, kind: Kind, obj: Object) -> dict[str, Any]:
    conditions: list[Condition] = conditions_of(obj)
    row = row_of(obj)
    runs = await latest_runs(page.client, kind, row.namespace, row.name, 10)
    history = await events_about(page.view, [uid_of(obj)], 20)
    return {"conditions": conditions, "history": history, "runs": runs}


async def _fields(page: PageRequest, kind: Kind, obj: Object) -> dict[str, Any]:
    run, name = await _composing_run(page, kind, obj)
    # A pipeline is traced once more for it, which takes a processor for a moment.
    provenance = Provenance({}) if run is None else await asyncio.to_thread(explain_run, run.world)
    reports = report_fields(without_secret_values(obj), name, provenance)
    reports.sort(key=lambda report: report.path.startswith(("metadata", "apiVersion", "kind")))
    summary = None if run is None else run.summary
    return {"fields": reports[:MOST_FIELDS], "more": len(reports) - MOST_FIELDS, "run": summary}


async def _difference(page: PageRequest, kind: Kind, obj: Object) -> dict[str, Any]:
    run, name = await _composing_run(page, kind, obj)
    if name in (COMPOSITE_STATUS, UNCOMPOSED):
        return {"differences": None, "why": "Only resources that a pipeline composed have a desired state."}
    desired = None if run is None else desired_in(run, name)
    if run is None or desired is None:
        return {
            "differences": None,
            "why": "No recorded run of its composite resource has its desired state.",
        }
    return {"differences": drift(desired, without_secret_values(obj)), "run": run.summary}


async def _composing_run(page: PageRequest, kind: Kind, obj: Object) -> tuple[Run | None, str]:
    """The latest run that desired the object, and what the pipeline calls it."""
    row, owner = row_of(obj), controller_of(obj)
    name = annotations_of(obj).get(RESOURCE_NAME_ANNOTATION, "")
    if owner is not None and name:
        group = api_group(text_in(owner, "apiVersion"))
        owner_kind = await page.view.kind_named(group, text_in(owner, "kind"))
        if owner_kind is None:
            return None, name
        namespace = row.namespace if owner_kind.namespaced else ""
        return await latest_run(page.client, owner_kind, namespace, text_in(owner, "name")), name
    if await page.view.is_composite(kind):
        return await latest_run(page.client, kind, row.namespace, row.name), COMPOSITE_STATUS
    return None, UNCOMPOSED


async def _events(page: PageRequest, kind: Kind, obj: Object) -> dict[str, Any]:
    return {"events": await events_about(page.view, await _uids_below(page.view, obj), MOST_EVENTS)}


async def _yaml(page: PageRequest, kind: Kind, obj: Object) -> dict[str, Any]:
    return {"yaml": shown_yaml(obj)}


async def _relations(page: PageRequest, kind: Kind, obj: Object) -> dict[str, Any]:
    relations = own_relations(obj) + await usages_of(page.view, Node(obj).reference)
    return {"relations": relations}


_SHEETS: dict[str, Callable[[PageRequest, Kind, Object], Awaitable[dict[str, Any]]]] = {
    "conditions": _conditions,
    "fields": _fields,
    "difference": _difference,
    "events": _events,
    "yaml": _yaml,
    "relations": _relations,
}


async def _uids_below(view: ClusterView, root: Object) -> list[str]:
    """The uids of a resource and of everything below it."""
    uids: list[str] = []
    pending = [root]
    while pending and len(uids) < MOST_OBJECTS:
        obj = pending.pop()
        uids.append(uid_of(obj))
        for reference in child_references(Node(obj), False):
            kind_view = await view.composed(reference.api_version, reference.kind)
            if kind_view is None or kind_view.refused:
                continue
            namespace = reference.namespace if kind_view.kind.namespaced else ""
            child = kind_view.object(namespace, reference.name)
            if child is not None and uid_of(child) not in uids:
                pending.append(child)
    return uids


async def events_about(view: ClusterView, uids: list[str], most: int) -> list[EventLine] | None:
    """The latest events of some objects; None where the viewer may not read events."""
    events = await view.events()
    if events.refused:
        return None
    rows = [row for uid in uids for row in events.rows_of_owner(uid)]
    latest = heapq.nlargest(most, rows, key=lambda row: row.since)
    objects = [events.object(row.namespace, row.name) for row in latest]
    return [event_line(obj) for obj in objects if obj is not None]


def event_line(obj: Object) -> EventLine:
    involved = obj.get("involvedObject")
    involved = involved if type(involved) is dict else {}
    number = obj.get("count")
    return EventLine(
        last_occurrence(obj),
        obj.get("type") == "Warning",
        text_in(obj, "reason"),
        text_in(obj, "message"),
        number if type(number) is int else 1,
        Reference(*(text_in(involved, key) for key in ("apiVersion", "kind", "name", "namespace"))),
    )
