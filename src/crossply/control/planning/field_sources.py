"""Where the new values of a plan's fields come from."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.object_metadata import uid_of
from crossply.control.planning.call_recording_functions import RecordedFunctions
from crossply.control.planning.field_changes import Field
from crossply.control.planning.object_tree import Node
from crossply.provenance.field_reports import resolve_items
from crossply.provenance.model import COMPOSITE_STATUS, Provenance


def add_sources(nodes: Iterable[Node], functions: RecordedFunctions) -> None:
    """Add the source of each field that the pipeline of an XR sets."""
    for node in nodes:
        provenance = functions.provenance_of(uid_of(node.obj)) if node.is_composite else None
        if provenance is not None:
            node.fields = _explained(node, COMPOSITE_STATUS, provenance)
            for child in node.children:
                if child.resource:
                    child.fields = _explained(child, child.resource, provenance)


def _explained(node: Node, resource: str, provenance: Provenance) -> tuple[Field, ...]:
    return tuple(
        field._replace(source=provenance.of(resource, resolve_items(field.path, node.obj)))
        for field in node.fields
    )
