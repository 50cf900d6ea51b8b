"""When a composite resource is reconciled although nothing happened."""

from __future__ import annotations

import random

from crossply.compose.object_metadata import annotations_of
from crossply.values import Object
from crossply.values.durations import parse_duration

_POLL = "crossplane.io/poll-interval"
_JITTER = 0.1


def poll_interval(xr: Object, shortest: float) -> float | None:
    """The seconds that its own annotation asks for; None where it asks for nothing sensible."""
    try:
        seconds = parse_duration(annotations_of(xr).get(_POLL, "")) / 1e9
    except ValueError:
        return None
    return max(seconds, shortest) if seconds > 0 else None


def spread(seconds: float) -> float:
    """About as many seconds, so that composite resources that started together do not stay in step."""
    return seconds * (1 + _JITTER * (2 * random.random() - 1))
