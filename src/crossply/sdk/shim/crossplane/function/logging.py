"""A log of events with keys and values: JSON lines, or readable ones for debugging."""

from __future__ import annotations

import enum

from crossply.sdk.shim.structured_log import EventLog, show


class Level(enum.Enum):
    """How much is logged."""

    DISABLED = 0
    DEBUG = 1
    INFO = 2


def configure(level: Level = Level.INFO) -> None:
    """Choose what is logged: nothing, JSON lines, or everything in readable lines."""
    show("" if level == Level.DISABLED else "readable" if level == Level.DEBUG else "json")


def get_logger() -> EventLog:
    """A logger: `log.info("made a bucket", name="b")`, `log.bind(tag="t")`."""
    return EventLog({})
