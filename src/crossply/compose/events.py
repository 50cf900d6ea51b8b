"""Events and conditions on their way to the composite resource and its claim."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.function_messages import (
    SEVERITY_NORMAL,
    SEVERITY_UNSPECIFIED,
    STATUS_FALSE,
    STATUS_TRUE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    Result,
)

NORMAL, WARNING = "Normal", "Warning"

SELECT = "SelectComposition"
COMPOSE = "ComposeResources"
PUBLISH = "PublishConnectionSecret"
NAMESPACE_OVERRIDDEN = "NamespaceOverridden"
OBSERVED_CHANGED = "ObservedStateChanged"
PAUSED = "ReconciliationPaused"
REQUEST_HANDLED = "ReconcileRequestHandled"

SYSTEM_CONDITIONS = frozenset({"Ready", "Synced", "Healthy", "UpToDate", "Responsive"})
"""The conditions that belong to the engine; a function cannot set them."""


class Event(NamedTuple):
    """An event. `message` is the message of the composite resource's event."""

    type: str
    reason: str
    message: str
    claim_message: str | None = None
    """The message of the claim's event; None when the claim gets none."""


class StatusCondition(NamedTuple):
    """A condition to set, still without a time."""

    type: str
    status: str
    reason: str
    message: str = ""
    for_claim: bool = False
    by_function: bool = False
    """Conditions of functions carry no observedGeneration."""


def event_from(result: Result, step: str) -> Event:
    """What a function's result says on the composite resource and, where asked, on its claim."""
    reason = result.reason or COMPOSE
    if result.severity == SEVERITY_UNSPECIFIED:
        prefix = f'Pipeline step "{step}" returned a result of unknown severity (assuming warning): '
        return Event(WARNING, reason, prefix + result.message)
    kind = NORMAL if result.severity == SEVERITY_NORMAL else WARNING
    claim = result.message if result.target == TARGET_COMPOSITE_AND_CLAIM else None
    return Event(kind, reason, f'Pipeline step "{step}": {result.message}', claim)


def condition_from(condition: Condition) -> StatusCondition:
    """A function's condition in the words of the Kubernetes API."""
    status = "Unknown"
    if condition.status == STATUS_TRUE:
        status = "True"
    elif condition.status == STATUS_FALSE:
        status = "False"
    for_claim = condition.target == TARGET_COMPOSITE_AND_CLAIM
    return StatusCondition(
        condition.type, status, condition.reason, condition.message or "", for_claim, by_function=True
    )
