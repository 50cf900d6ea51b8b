"""Log lines in logfmt or JSON, with the fields of the current run.

Only names, codes and messages are logged. Bodies of requests, values of Secrets and inputs of functions never
reach the logger, at any level.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TextIO

import orjson

from crossply.record.control_plane_metrics import LINES_DROPPED
from crossply.record.rate_limit import RateLimiter
from crossply.record.run_context import Run, current
from crossply.values.timestamps import format_timestamp

BURST = 20
PAUSE = 5.0
"""Seconds between two lines of one kind after the burst; the burst recovers at the same rate."""
DROPPED = "held_back"
"""The field of a log line with the number of lines dropped before it."""
LOGFMT, JSON = ("logfmt", "json")
LONGEST = 4096
"""The characters of one value: a function may say as much as it likes."""

_SUBJECTS = {"composite": "xr", "claim": "claim"}
"""The log field of a run's object, by the first word of its controller."""
_CONTROLS = dict.fromkeys([*range(0x7F, 0xA0), 0x2028, 0x2029], "\N{REPLACEMENT CHARACTER}")
"""What ends a line or moves a cursor, and JSON does not escape."""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@+,*")

Fields = dict[str, Any]


def start_logging(stream: TextIO, style: str, debug: bool) -> None:
    """Write what is logged to a stream, from now on."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter(style))
    handler.addFilter(LineLimit())
    # Libraries log warnings and errors only: at lower levels they may log what they send.
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("crossply").setLevel(logging.DEBUG if debug else logging.INFO)
    # The stream may be closed or full; work continues without a log.
    logging.raiseExceptions = False


class LineFormatter(logging.Formatter):
    """Makes one line of a record, whatever is in it."""

    def __init__(self, style: str) -> None:
        super().__init__()
        self._write = _json if style == JSON else _logfmt

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        fields = {
            "time": _time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "msg": _message(record),
            **_of_run(current()),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        if dropped := getattr(record, DROPPED, 0):
            fields[DROPPED] = dropped
        return self._write({name: _harmless(value) for name, value in fields.items()})


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):
        return str(record.msg)


def _of_run(run: Run | None) -> Fields:
    if run is None:
        return {}
    word = _SUBJECTS.get(run.controller.partition("/")[0], "object")
    fields = {"controller": run.controller, word: run.subject, "run": run.id}
    if run.trace is not None:
        fields["trace_id"] = run.trace.id
    return fields


def _time(seconds: float) -> str:
    return format_timestamp(datetime.fromtimestamp(seconds, UTC), "milliseconds")


def _harmless(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if len(value) > LONGEST:
        value = f"{value[:LONGEST]}… ({len(value) - LONGEST} more characters)"
    return value if value.isascii() and "\x7f" not in value else value.translate(_CONTROLS)


def _json(fields: Fields) -> str:
    try:
        return orjson.dumps(fields, default=str).decode()
    except orjson.JSONEncodeError:
        # A lone surrogate: JSON cannot say it, and its line must not be lost for that.
        return orjson.dumps({name: ascii(value) for name, value in fields.items()}).decode()


def _logfmt(fields: Fields) -> str:
    return " ".join(f"{name}={_word(str(value))}" for name, value in fields.items())


def _word(value: str) -> str:
    """A value, quoted if it could be mistaken for another field or line."""
    if value and _PLAIN.issuperset(value):
        return value
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return orjson.dumps(ascii(value)).decode()


class LineLimit(logging.Filter):
    """Limits how many lines of one kind are written, and counts the others.

    Lines are of one kind if the same code of the same controller wrote them with the same error code; names
    and messages may differ. A burst is written, then a few a minute, each with the number of lines dropped
    before it. Debug lines are not limited.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._limiter = RateLimiter(BURST, PAUSE, clock)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written; sets how many lines were dropped before it."""
        if record.levelno < logging.INFO:
            return True
        dropped = self._limiter.take(_kind_of(record))
        if dropped is None:
            LINES_DROPPED.of(record.levelname.lower()).value += 1
            return False
        setattr(record, DROPPED, dropped)
        return True


def _kind_of(record: logging.LogRecord) -> tuple[str, ...]:
    run = current()
    fields = getattr(record, "fields", {})
    return (record.name, str(record.msg), run.controller if run else "", str(fields.get("code", "")))
