"""RFC 3339 time stamps as Kubernetes writes them: in UTC, to the second or to the microsecond."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def format_timestamp(time: datetime, precision: str = "seconds") -> str:
    """Return a time, which must be in UTC, as text. The precision is a `timespec` of `datetime.isoformat`."""
    # Not by strftime, which does not pad the years before 1000: Go's zero time is in the year 1.
    return time.replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def current_timestamp(precision: str = "seconds") -> str:
    """Return the present time as text."""
    return format_timestamp(datetime.now(UTC), precision)


def parse_timestamp(text: Any) -> datetime | None:
    """Return the time, in UTC, that a text gives; None if it is not a time stamp."""
    if not isinstance(text, str) or "T" not in text:
        return None
    try:
        time = datetime.fromisoformat(text)
        return time.astimezone(UTC) if time.tzinfo else None
    except (ValueError, OverflowError):
        return None
