"""A small logger of events with keys and values, in the shape that structlog made familiar."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
_style = "readable"


def show(style: str) -> None:
    """Choose how events are shown: `json` from info on, `readable` all of them, "" none."""
    global _style
    _style = style


class EventLog:
    """Logs events, each with what is bound to the logger."""

    def __init__(self, bound: Mapping[str, Any]) -> None:
        self._bound = dict(bound)

    def bind(self, **values: Any) -> EventLog:
        """A logger that says these, too."""
        return EventLog({**self._bound, **values})

    def new(self, **values: Any) -> EventLog:
        """A logger that says only these."""
        return EventLog(values)

    def unbind(self, *keys: str) -> EventLog:
        """A logger that no longer says these."""
        return EventLog({key: value for key, value in self._bound.items() if key not in keys})

    try_unbind = unbind

    def debug(self, event: str, *given: Any, **values: Any) -> None:
        """Log an event for those who look for a mistake."""
        self._log("debug", event, given, values)

    def info(self, event: str, *given: Any, **values: Any) -> None:
        """Log an event."""
        self._log("info", event, given, values)

    def warning(self, event: str, *given: Any, **values: Any) -> None:
        """Log an event that somebody should look at."""
        self._log("warning", event, given, values)

    warn = warning

    def error(self, event: str, *given: Any, **values: Any) -> None:
        """Log something that went wrong."""
        self._log("error", event, given, values)

    def critical(self, event: str, *given: Any, **values: Any) -> None:
        """Log something that cannot go on."""
        self._log("critical", event, given, values)

    fatal = critical

    def exception(self, event: str, *given: Any, **values: Any) -> None:
        """Log something that went wrong, with the exception that is being handled."""
        self._log("error", event, given, {"exc_info": True, **values})

    def log(self, level: int, event: str, *given: Any, **values: Any) -> None:
        """Log an event of a level as a number, as the standard library has them."""
        fitting = [name for name, each in _LEVELS.items() if each <= level]
        self._log(fitting[-1] if fitting else "debug", event, given, values)

    msg = info

    def _log(self, level: str, event: str, given: tuple[Any, ...], values: dict[str, Any]) -> None:
        if not _style or (_style == "json" and _LEVELS[level] < _LEVELS["info"]):
            return
        said = {**self._bound, **values}
        if said.pop("exc_info", None):
            said["exception"] = _story()
        frame = sys._getframe(2)
        place = {"filename": os.path.basename(frame.f_code.co_filename), "lineno": frame.f_lineno}
        text = str(event) % given if given else str(event)
        line = _json if _style == "json" else _readable
        sys.stdout.write(line(level, text, said, place) + "\n")
        sys.stdout.flush()


def _json(level: str, text: str, said: dict[str, Any], place: dict[str, Any]) -> str:
    return json.dumps({**said, "level": level, **place, "ts": time.time(), "msg": text}, default=repr)


def _readable(level: str, text: str, said: dict[str, Any], place: dict[str, Any]) -> str:
    values = " ".join(f"{key}={value}" for key, value in {**said, **place}.items())
    return f"{datetime.now(UTC).isoformat()} [{level:<8}] {text:<30} {values}"


def _story() -> str:
    from traceback import format_exc

    return format_exc().rstrip()
