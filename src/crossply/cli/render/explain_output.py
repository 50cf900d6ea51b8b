"""The output of `render --explain`: where each field of the rendered objects comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.explain.field_sources_text import field_table
from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import Style
from crossply.compose.object_metadata import annotations_of, name_of, text_in
from crossply.provenance.field_reports import FieldReport, report_fields
from crossply.provenance.model import COMPOSITE_STATUS, Provenance
from crossply.values import Object

if TYPE_CHECKING:
    from crossply.compose.in_memory_reconcile import Rendered

_RESOURCE_NAME = "crossplane.io/composition-resource-name"


def explained_text(rendered: Rendered, provenance: Provenance, style: Style) -> str:
    """A table for the status of the XR and for each composed resource."""
    blocks = []
    for obj, resource, reports in _objects(rendered, provenance):
        title = harmless(f"{text_in(obj, 'kind')}/{name_of(obj)}")
        title += f" ({harmless(resource)})" if resource else ""
        blocks.append("".join(f"{line}\n" for line in [style.bold(title), *field_table(reports, style)]))
    return "\n".join(blocks)


def explained_json(rendered: Rendered, provenance: Provenance) -> str:
    import orjson

    items = [
        {
            "apiVersion": text_in(obj, "apiVersion"),
            "kind": text_in(obj, "kind"),
            "name": name_of(obj),
            "resource": resource,
            "fields": [report.to_json() for report in reports],
        }
        for obj, resource, reports in _objects(rendered, provenance)
    ]
    return orjson.dumps({"items": items}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _objects(rendered: Rendered, provenance: Provenance) -> list[tuple[Object, str, list[FieldReport]]]:
    composites = [(rendered.composite, COMPOSITE_STATUS)]
    composed = [(obj, annotations_of(obj).get(_RESOURCE_NAME, "")) for obj in rendered.composed]
    explained = [(obj, name, report_fields(obj, name, provenance)) for obj, name in (*composites, *composed)]
    return [item for item in explained if any(report.source is not None for report in item[2])]
