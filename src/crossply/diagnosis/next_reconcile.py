"""What triggers the next reconcile of an XR, and when."""

from __future__ import annotations

from collections.abc import Sequence

from crossply.compose.engine_field_paths import Machinery
from crossply.compose.object_metadata import PAUSED_ANNOTATION, annotations_of, is_paused
from crossply.kinds.composition import WATCHED_REFS
from crossply.values import Object
from crossply.values.backoff import RetryPauses
from crossply.values.durations import parse_duration

POLL = "crossplane.io/poll-interval"
_SHOWN = 5


def next_reconcile(xr: Object, machinery: Machinery, is_failed: bool) -> tuple[str, ...]:
    """The events that wake it, the soonest first."""
    annotations = annotations_of(xr)
    if is_paused(xr):
        return (f"nothing: it is paused until the annotation {PAUSED_ANNOTATION} is removed",)
    lines = []
    circuit = _condition(xr, "Responsive")
    if circuit.get("status") == "False":
        reason = str(circuit.get("message") or circuit.get("reason") or "")
        lines.append(f"the circuit breaker is open, so events are held back: {reason}")
    if is_failed:
        pauses = RetryPauses()
        lines.append(
            f"a retry: after a failure within {pauses.first:g} s, then later each time, "
            f"at most {pauses.longest:g} s apart"
        )
    lines.append("an edit of it, or of its Composition")
    lines += _watches(xr, machinery)
    poll = annotations.get(POLL, "")
    if _is_duration(poll):
        lines.append(f"a poll every {poll} (annotation {POLL})")
    elif not is_failed:
        lines.append("a response of a function that expires (its TTL), else nothing: it does not poll")
    return tuple(lines)


def _watches(xr: Object, machinery: Machinery) -> list[str]:
    lines = []
    composed = machinery.read(xr, machinery.references)
    if isinstance(composed, list) and composed:
        lines.append(f"a change of what it composed: {_few(_shown(composed))}")
    status = xr.get("status")
    watched = status.get(WATCHED_REFS) if isinstance(status, dict) else None
    if isinstance(watched, list) and watched:
        lines.append(f"a change of resources that its functions require: {_few(_shown(watched))}")
    return lines


def _shown(references: Sequence[object]) -> list[str]:
    return [
        f"{reference.get('kind')}/{reference.get('name')}"
        for reference in references
        if isinstance(reference, dict)
    ]


def _few(names: Sequence[str]) -> str:
    more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _is_duration(text: str) -> bool:
    try:
        return parse_duration(text) > 0
    except ValueError:
        return False


def _condition(obj: Object, name: str) -> Object:
    status = obj.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for entry in conditions if isinstance(conditions, list) else ():
        if isinstance(entry, dict) and entry.get("type") == name:
            return entry
    return {}
