"""What to say of a planned object beside its fields: errors, warnings, and why it stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossply.compose.conditions import read_conditions
from crossply.compose.events import WARNING
from crossply.compose.object_metadata import PAUSED_ANNOTATION, is_being_deleted, is_paused, uid_of
from crossply.control.planning.api_urls import ObjectKey
from crossply.control.planning.change_tree import DELETE, Node
from crossply.control.planning.dry_run_store import DryRunStore
from crossply.control.planning.governed_kinds import Governed
from crossply.control.planning.reconcile_rounds import MOST_RUNS, ReconcileRounds
from crossply.values import Object


def blocking_reason(governed: Governed, obj: Object) -> str:
    """Why nothing would come of a change of this object or its Composition; empty where something would."""
    if is_being_deleted(obj):
        return "is being deleted"
    if is_paused(obj):
        return f"is paused by its annotation {PAUSED_ANNOTATION}"
    if governed.is_claim:
        return ""
    machinery = governed.machinery
    revision = machinery.name_in(obj, "compositionRevisionRef")
    if machinery.read(obj, "compositionUpdatePolicy") == "Manual" and revision:
        return f"stays at revision {revision}: its compositionUpdatePolicy is Manual"
    return ""


def annotate(
    node: Node,
    governed: Governed | None,
    rounds: ReconcileRounds,
    store: DryRunStore,
    reasons: Mapping[ObjectKey, str],
) -> None:
    """Add the notes of a node."""
    if node.action == DELETE or node.error:
        return
    if node.key in reasons:
        node.notes.append(reasons[node.key])
        return
    node.warnings += _warnings(node.obj, store)
    if governed is None:
        return
    _add_error(node, rounds)
    known = store.known(node.key)
    if known is not None and known.before is not None and not governed.is_claim:
        node.notes += _choices(governed, known.before, node.obj)
    reason = blocking_reason(governed, node.obj)
    if reason:
        node.notes.append(reason)
    if node.key in rounds.unstable:
        node.notes.append(f"would not come to rest: it still changes after {MOST_RUNS} reconciles")


def _add_error(node: Node, rounds: ReconcileRounds) -> None:
    problem = rounds.problems.get(node.key)
    if problem is not None:
        node.error, node.hint = str(problem), problem.hint
    else:
        node.error = node.error or _unsynced(node.obj)
    node.warnings = [warning for warning in node.warnings if warning != node.error]


def _unsynced(obj: Object) -> str:
    for condition in read_conditions(obj.get("status")):
        if condition["type"] == "Synced" and (condition["status"], condition["reason"]) == (
            "False",
            "ReconcileError",
        ):
            return str(condition.get("message", "")) or "would not be synced"
    return ""


def _warnings(obj: Object, store: DryRunStore) -> list[str]:
    uid = uid_of(obj)
    events = [event for event in store.events if uid and _about(event).get("uid") == uid]
    return list(
        dict.fromkeys(str(event.get("message", "")) for event in events if event.get("type") == WARNING)
    )


def _about(event: Object) -> dict[str, Any]:
    about = event.get("involvedObject") or event.get("regarding")
    return about if isinstance(about, dict) else {}


def _choices(governed: Governed, before: Object, after: Object) -> list[str]:
    """What it is composed by, where that changes."""
    names = [governed.machinery.name_in(xr, "compositionRef") for xr in (before, after)]
    if names[0] and names[0] != names[1]:
        return [f"would be composed by {names[1]} instead of {names[0]}"]
    return []
