"""Events that functions address to a claim, told on the claim of the composite resource they ran for."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.compose.events import Event
from crossply.control.claims.sync import CLAIM, REQUIREMENT, claim_reference
from crossply.control.plane import Plane
from crossply.errors import CrossplyError
from crossply.values import Object


async def tell_claim(plane: Plane, xr: Object, events: Iterable[Event]) -> None:
    """Record what concerns the claim, in the function's own words."""
    addressed = [event for event in events if event.claim_message is not None]
    if not addressed:
        return
    claim = await _claim_of(plane, xr)
    if claim is None:
        return
    for event in addressed:
        plane.recorder.record(claim, event._replace(message=event.claim_message or "", claim_message=None))


async def _claim_of(plane: Plane, xr: Object) -> Object | None:
    ref = claim_reference(xr, CLAIM) or claim_reference(xr, REQUIREMENT)
    if ref is None:
        return None
    try:
        kind = await plane.discovery.kind_for(ref["apiVersion"], ref["kind"])
        return await plane.own.get(kind, ref["name"], ref.get("namespace", ""))
    except CrossplyError:
        # The composite resource has the same event; a claim that cannot be read now is not told.
        return None
