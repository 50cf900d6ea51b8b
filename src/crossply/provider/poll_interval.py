"""How often a managed resource is observed."""

from __future__ import annotations

from crossply.compose.object_metadata import annotations_of
from crossply.values import Object
from crossply.values.durations import parse_duration

POLL_INTERVAL = "crossplane.io/poll-interval"
SHORTEST = 1.0
"""Seconds; what an annotation asks for less is this."""


def poll_interval(resource: Object, default: float) -> float:
    """Seconds between observations: what the resource's annotation says, else the default."""
    try:
        seconds = parse_duration(annotations_of(resource).get(POLL_INTERVAL, "")) / 1e9
    except ValueError:
        return default
    return max(seconds, SHORTEST) if seconds > 0 else default
