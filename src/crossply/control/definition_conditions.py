"""Conditions of the control plane's own kinds."""

from __future__ import annotations

from crossply.compose.events import StatusCondition

ESTABLISHED = StatusCondition("Established", "True", "WatchingCompositeResource")
TERMINATING = StatusCondition("Established", "False", "TerminatingCompositeResource")
OFFERED = StatusCondition("Offered", "True", "WatchingCompositeResourceClaim")
REDACTED = StatusCondition("Offered", "False", "TerminatingCompositeResourceClaim")
PROTECTED = StatusCondition("Established", "False", "ProtectedKind")
CLAIM_PROTECTED = StatusCondition("Offered", "False", "ProtectedKind")
VALID_PIPELINE = StatusCondition("ValidPipeline", "True", "ValidPipeline")
