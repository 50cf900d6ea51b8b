"""Ages as kubectl prints them: 5s, 3m20s, 4d6h."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from crossply.values.timestamps import parse_timestamp

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 86400 * 365


def since(timestamp: Any, now: datetime) -> str:
    """The time between a timestamp and now; `<unknown>` without a timestamp."""
    if not timestamp:
        return "<unknown>"
    time = parse_timestamp(timestamp)
    return "<invalid>" if time is None else human_duration((now - time).total_seconds())


def human_duration(duration: float) -> str:
    """A duration with two or three digits, as Kubernetes' HumanDuration. Clocks may differ by two seconds."""
    seconds = int(duration)
    if seconds < -1:
        return "<invalid>"
    if seconds < 2 * _MINUTE:
        return f"{max(seconds, 0)}s"
    if seconds < 10 * _MINUTE:
        return _two(seconds, _MINUTE, "m", 1, 60, "s")
    if seconds < 3 * _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < 8 * _HOUR:
        return _two(seconds, _HOUR, "h", _MINUTE, 60, "m")
    if seconds < 48 * _HOUR:
        return f"{seconds // _HOUR}h"
    if seconds < 8 * _DAY:
        return _two(seconds, _DAY, "d", _HOUR, 24, "h")
    if seconds < 2 * _YEAR:
        return f"{seconds // _DAY}d"
    if seconds < 8 * _YEAR:
        return _two(seconds, _YEAR, "y", _DAY, 365, "d")
    return f"{seconds // _YEAR}y"


def _two(seconds: int, large: int, large_unit: str, small: int, wrap: int, small_unit: str) -> str:
    rest = seconds // small % wrap
    return f"{seconds // large}{large_unit}" + (f"{rest}{small_unit}" if rest else "")
