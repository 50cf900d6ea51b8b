"""A plan as the dashboard shows it: what would happen to each composite resource, and how much in all."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from crossply.compose.object_metadata import text_in
from crossply.control.planning.change_tree import Node
from crossply.control.planning.plan_entry_point import PlanResult
from crossply.ui.views.field_differences import ADDED, CHANGED, REMOVED, DifferenceRow
from crossply.ui.views.short_text import changed_lines, cut
from crossply.values.differences import MISSING

MAX_ROOTS = 100
MAX_FIELDS = 50


class PlanNode(NamedTuple):
    """One object that would change, or has something below it that would."""

    action: str
    label: str
    reason: str
    fields: tuple[DifferenceRow, ...]
    notes: tuple[str, ...]
    error: str
    children: tuple[PlanNode, ...]


class PlanSummary(NamedTuple):
    """A whole plan."""

    roots: tuple[PlanNode, ...]
    counts: Counter[str]
    """Objects by what would become of them: create, change, delete, none."""
    unchanged: int
    """Composite resources that would stay as they are."""
    left_out: int
    """Composite resources that would change and are not shown."""
    errors: int


def plan_summary(result: PlanResult) -> PlanSummary:
    """What a plan says, bounded in length."""
    nodes = result.plan.nodes()
    listed = [node for node in (*result.plan.roots, *result.plan.others) if _is_listed(node)]
    listed.sort(key=lambda node: (not node.is_composite, not any(below.error for below in node.walk())))
    shown = [_node(node, result) for node in listed[:MAX_ROOTS]]
    return PlanSummary(
        tuple(shown),
        Counter(node.action for node in nodes),
        sum(not _is_listed(node) for node in result.plan.roots),
        max(len(listed) - MAX_ROOTS, 0),
        sum(bool(node.error) for node in nodes),
    )


def _is_listed(node: Node) -> bool:
    return node.is_changing or any(below.error or below.reason for below in node.walk())


def _node(node: Node, result: PlanResult) -> PlanNode:
    key = node.key
    place = f" ({key.namespace})" if key.namespace else ""
    fields = [result.unknown.field(field) for field in node.fields[:MAX_FIELDS]]
    return PlanNode(
        node.action,
        cut(f"{text_in(node.obj, 'kind')}/{result.unknown.text(key.name)}{place}"),
        cut(node.reason, 300),
        tuple(
            DifferenceRow(
                ADDED if field.before is MISSING else REMOVED if field.after is MISSING else CHANGED,
                cut(field.path),
                *changed_lines(field.before, field.after),
            )
            for field in fields
        ),
        tuple(cut(note, 300) for note in (*node.notes, *node.warnings)),
        cut(node.error, 500),
        tuple(_node(child, result) for child in node.children if _is_listed(child)),
    )
