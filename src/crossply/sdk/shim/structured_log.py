"""A small structured logger with the interface of structlog."""

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
    """Set the format: `json` from level info, `readable` for all levels, "" for no output."""
    global _style
    _style = style


class EventLog:
    """Logs events with the values that are bound to the logger."""

    def __init__(self, bound: Mapping[str, Any]) -> None:
        self._bound = dict(bound)

    def bind(self, **values: Any) -> EventLog:
        """A logger with more bound values."""
        return EventLog({**self._bound, **values})

    def new(self, **values: Any) -> EventLog:
        """A logger with only these bound values."""
        return EventLog(values)

    def unbind(self, *keys: str) -> EventLog:
        """A logger without these bound values."""
        return EventLog({key: value for key, value in self._bound.items() if key not in keys})

    try_unbind = unbind

    def debug(self, event: str, *args: Any, **values: Any) -> None:
        self._log("debug", event, args, values)

    def info(self, event: str, *args: Any, **values: Any) -> None:
        self._log("info", event, args, values)

    def warning(self, event: str, *args: Any, **values: Any) -> None:
        self._log("warning", event, args, values)

    warn = warning

    def error(self, event: str, *args: Any, **values: Any) -> None:
        self._log("error", event, args, values)

    def critical(self, event: str, *args: Any, **values: Any) -> None:
        self._log("critical", event, args, values)

    fatal = critical

    def exception(self, event: str, *args: Any, **values: Any) -> None:
        """Log an error with the current exception."""
        self._log("error", event, args, {"exc_info": True, **values})

    def log(self, level: int, event: str, *args: Any, **values: Any) -> None:
        """Log an event with a numeric level of the standard library."""
        fitting = [name for name, number in _LEVELS.items() if number <= level]
        self._log(fitting[-1] if fitting else "debug", event, args, values)

    msg = info

    def _log(self, level: str, event: str, args: tuple[Any, ...], values: dict[str, Any]) -> None:
        if not _style or (_style == "json" and _LEVELS[level] < _LEVELS["info"]):
            return
        fields = {**self._bound, **values}
        if fields.pop("exc_info", None):
            fields["exception"] = _traceback_text()
        frame = sys._getframe(2)
        place = {"filename": os.path.basename(frame.f_code.co_filename), "lineno": frame.f_lineno}
        text = str(event) % args if args else str(event)
        line = _json if _style == "json" else _readable
        sys.stdout.write(line(level, text, fields, place) + "\n")
        sys.stdout.flush()


def _json(level: str, text: str, values: dict[str, Any], place: dict[str, Any]) -> str:
    return json.dumps({**values, "level": level, **place, "ts": time.time(), "msg": text}, default=repr)


def _readable(level: str, text: str, fields: dict[str, Any], place: dict[str, Any]) -> str:
    values = " ".join(f"{key}={value}" for key, value in {**fields, **place}.items())
    return f"{datetime.now(UTC).isoformat()} [{level:<8}] {text:<30} {values}"


def _traceback_text() -> str:
    from traceback import format_exc

    return format_exc().rstrip()
