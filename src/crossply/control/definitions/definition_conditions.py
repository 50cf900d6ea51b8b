"""The conditions of definitions, of what they publish and of revisions of Compositions."""

from __future__ import annotations

from crossply.compose.events import StatusCondition

ESTABLISHED = StatusCondition("Established", "True", "WatchingCompositeResource")
TERMINATING = StatusCondition("Established", "False", "TerminatingCompositeResource")
OFFERED = StatusCondition("Offered", "True", "WatchingCompositeResourceClaim")
REDACTED = StatusCondition("Offered", "False", "TerminatingCompositeResourceClaim")
PROTECTED = StatusCondition("Established", "False", "ProtectedKind")
CLAIM_PROTECTED = StatusCondition("Offered", "False", "ProtectedKind")
VALID_PIPELINE = StatusCondition("ValidPipeline", "True", "ValidPipeline")
