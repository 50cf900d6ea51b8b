"""Where the fields of a live resource come from: its last recorded run, or its pipeline run now in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import Style
from crossply.compose.object_metadata import (
    RESOURCE_NAME_ANNOTATION,
    annotations_of,
    controller_of,
    name_of,
    namespace_of,
    text_in,
    uid_of,
)
from crossply.errors import CrossplyError
from crossply.functions.builtin.object_field_traces import leaves
from crossply.provenance.field_reports import FieldReport, report_fields
from crossply.provenance.model import COMPOSITE_STATUS, Provenance
from crossply.values import Object
from crossply.values.field_path import PathNotFound, to_string

if TYPE_CHECKING:
    from crossply.kube.client import Client
    from crossply.kube.kind import Kind
    from crossply.resource_tree.node import Node

_RECENT = 5
"""How many of the latest runs are searched for one with a complete pipeline."""


class ExplainedFields(NamedTuple):
    """The fields of a resource, and how their sources were found."""

    reports: list[FieldReport]
    field: str
    """The requested field; empty for all."""
    basis: str
    problem: str
    """Why the sources are not known."""

    def to_json(self) -> list[Object]:
        return [report.to_json() for report in self.reports]


def _missing(obj: Object, field: str) -> PathNotFound:
    from difflib import get_close_matches

    known = [to_string(path[:length]) for path, _ in leaves(obj) for length in range(1, len(path) + 1)]
    near = get_close_matches(field, dict.fromkeys(known), 3, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "leave out the field to see all that it has"
    return PathNotFound(f"{text_in(obj, 'kind')}/{name_of(obj)} has no field {field}", hint=hint)


class _Origins(NamedTuple):
    provenance: Provenance
    basis: str = ""
    problem: str = ""


async def load_fields(client: Client, node: Node, field: str) -> ExplainedFields:
    """Explain the fields at and below one, or all fields of a resource."""
    obj = node.object
    if field and not report_fields(obj, "", Provenance({}), field):
        raise _missing(obj, field)
    resource = annotations_of(obj).get(RESOURCE_NAME_ANNOTATION, COMPOSITE_STATUS)
    origins = await _find(client, obj, resource)
    reports = report_fields(obj, resource, origins.provenance, field)
    return ExplainedFields(reports, field, origins.basis, origins.problem)


async def _find(client: Client, obj: Object, resource: str) -> _Origins:
    try:
        owner = await _owner(client, obj) if resource else obj
        if owner is None:
            return _Origins(Provenance({}), problem="its composite resource does not exist")
        return await _recorded(client, owner) or await _now(client, owner)
    except CrossplyError as problem:
        return _Origins(Provenance({}), problem=str(problem))


async def _owner(client: Client, obj: Object) -> Object | None:
    reference = controller_of(obj)
    if reference is None:
        return None
    kind = await _kind(client, text_in(reference, "apiVersion"), text_in(reference, "kind"))
    return await client.get(kind, text_in(reference, "name"), namespace_of(obj) if kind.namespaced else "")


async def _kind(client: Client, api_version: str, kind: str) -> Kind:
    from crossply.kube.discovery import Discovery

    return await Discovery(client).kind_for(api_version, kind)


async def _recorded(client: Client, xr: Object) -> _Origins | None:
    """The provenance of the latest recorded run; None where none is recorded."""
    from crossply.runs.client import RunClient
    from crossply.runs.errors import RunsError
    from crossply.runs.model import COMPOSED
    from crossply.runs.run_provenance import explain_run

    runs = RunClient(client)
    try:
        listed = await runs.list_runs(
            text_in(xr, "kind"), namespace_of(xr), name_of(xr), _RECENT, uid=uid_of(xr)
        )
        summary = next((run for run in listed if run.outcome == COMPOSED), None)
        if summary is None:
            return None
        run = await runs.load_run(summary.id)
    except RunsError:
        return None
    return _Origins(explain_run(run.world), f"the recorded run {summary.id}: crossply runs show {summary.id}")


async def _now(client: Client, xr: Object) -> _Origins:
    from crossply.control.planning.live_xr_field_sources import explain_now
    from crossply.functions.host_access_policy import HostAccess

    kind = await _kind(client, text_in(xr, "apiVersion"), text_in(xr, "kind"))
    provenance = await explain_now(client.config, kind, xr, HostAccess())
    if provenance is None:
        return _Origins(Provenance({}), problem=f"{text_in(xr, 'kind')} is not composed by a pipeline")
    return _Origins(provenance, "the pipeline, run now in memory, because no run is recorded")


def write_fields(fields: ExplainedFields, style: Style) -> str:
    """A table of all fields, or a paragraph for the requested one."""
    from crossply.cli.explain.field_sources_text import field_paragraph, field_table

    if not fields.reports:
        return ""
    lines = [] if fields.field else ["", style.bold("Fields")]
    if fields.field and len(fields.reports) == 1:
        lines += field_paragraph(fields.reports[0], style)
    else:
        lines += field_table(fields.reports, style)
    if fields.problem:
        lines.append(style.warn(harmless(f"cannot determine which step sets the fields: {fields.problem}")))
    elif fields.basis:
        lines.append(style.dim(f"according to {fields.basis}"))
    return "".join(f"{line}\n" for line in lines)
