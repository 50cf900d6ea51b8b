"""Go's time.Duration: parsing `1h30m`."""

from __future__ import annotations

from crossply.functions.builtin.go_templating.sprig.date_layouts import MAX_TEXT
from crossply.values.durations import parse_duration


class InvalidDuration(Exception):
    """A text is no duration; the message is Go's."""


def parse(text: str) -> int:
    """Read a duration as nanoseconds."""
    if len(text) > MAX_TEXT:
        raise InvalidDuration(f"time: duration is longer than {MAX_TEXT} characters")
    try:
        return parse_duration(text)
    except ValueError as error:
        raise InvalidDuration(str(error)) from None
