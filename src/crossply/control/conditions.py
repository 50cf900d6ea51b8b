"""Conditions of the control plane's own kinds, and writing them only when they change."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.conditions import read_conditions, set_conditions
from crossply.compose.events import StatusCondition
from crossply.values import Object

ESTABLISHED = StatusCondition("Established", "True", "WatchingCompositeResource")
TERMINATING = StatusCondition("Established", "False", "TerminatingCompositeResource")
OFFERED = StatusCondition("Offered", "True", "WatchingCompositeResourceClaim")
REDACTED = StatusCondition("Offered", "False", "TerminatingCompositeResourceClaim")
PROTECTED = StatusCondition("Established", "False", "ProtectedKind")
CLAIM_PROTECTED = StatusCondition("Offered", "False", "ProtectedKind")
VALID_PIPELINE = StatusCondition("ValidPipeline", "True", "ValidPipeline")


def with_conditions(obj: Object, changes: Iterable[StatusCondition], now: str) -> Object:
    """The object with conditions set, stamped with its generation."""
    status = obj.get("status") or {}
    generation = obj["metadata"].get("generation", 0)
    conditions = set_conditions(read_conditions(status), changes, now, generation)
    return {**obj, "status": {**status, "conditions": conditions}}
