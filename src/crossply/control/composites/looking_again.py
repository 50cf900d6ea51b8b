"""When a composite resource is to be looked at although nothing happened."""

from __future__ import annotations

import random

from crossply.compose.metadata import annotations_of
from crossply.values import Object
from crossply.values.durations import parse_duration

POLL = "crossplane.io/poll-interval"
_JITTER = 0.1


def polled_after(xr: Object, shortest: float) -> float:
    """The seconds that its own annotation asks for; 0, which is never, where it asks for nothing sensible."""
    try:
        seconds = parse_duration(annotations_of(xr).get(POLL, "")) / 1e9
    except ValueError:
        return 0.0
    return max(seconds, shortest) if seconds > 0 else 0.0


def spread(seconds: float) -> float:
    """About as many seconds, so that what began together does not stay together."""
    return seconds * (1 + _JITTER * (2 * random.random() - 1))
