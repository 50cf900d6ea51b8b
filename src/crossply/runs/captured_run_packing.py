"""From a captured run to what is stored of it: encoded, redacted, compressed."""

from __future__ import annotations

from random import getrandbits
from typing import Any, NamedTuple

import orjson

from crossply.runs.capture import Capture
from crossply.runs.compressed_run_records import RunCompressor
from crossply.runs.encoding import RunEncoder
from crossply.runs.model import Subject
from crossply.runs.redaction import Redactor
from crossply.runs.sqlite_run_store import StoredRun
from crossply.runs.summary import subject_of, summarize

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]


class RunDraft(NamedTuple):
    """A run as JSON, which still has secrets in it."""

    id: str
    subject: Subject
    summary: bytes
    data: bytes
    secrets: set[bytes]
    public: list[tuple[object, ...]]


class RedactedRun(NamedTuple):
    """A run as JSON, without secrets."""

    id: str
    subject: Subject
    summary: bytes
    data: bytes


class RunPacker:
    """Packs runs. One thread at a time may encode, and one compress."""

    def __init__(self) -> None:
        self._redactor = Redactor()
        self._encoder = RunEncoder(self._redactor)
        self._compressor = RunCompressor()

    def draft(self, capture: Capture) -> RunDraft:
        """A captured run as JSON."""
        document = self._encoder.encode(capture)
        id_, subject = new_id(capture.started_at), subject_of(capture.xr)
        summary = orjson.dumps(summarize(capture, id_, subject))
        document.fields["summary"] = orjson.Fragment(summary)
        data = orjson.dumps(document.fields, default=_unknown)
        document.public.append(subject)
        return RunDraft(id_, subject, summary, data, document.secrets, document.public)

    def redact(self, run: RunDraft) -> RedactedRun:
        """The run without secrets."""
        # Few runs have secrets, and only these need the texts.
        data, redacted = self._redactor.redact(run.data, run.secrets, map(_text, run.public))
        summary = run.summary
        if redacted:
            document = orjson.loads(data)
            document["summary"]["redacted"] = redacted
            data, summary = orjson.dumps(document), orjson.dumps(document["summary"])
        return RedactedRun(run.id, run.subject, summary, data)

    def compress(self, run: RedactedRun) -> StoredRun:
        """The run as it is stored."""
        return StoredRun(run.id, run.subject, run.summary, self._compressor.compress(run.data))


def new_id(started: float) -> str:
    """The id of a run: nine digits of the millisecond that it started in, and three of chance."""
    number = int(started * 1000) << 15 | getrandbits(15)
    pairs, time_part = _PAIRS, number >> 20
    return (
        f"{pairs[time_part >> 30 & 1023]}{pairs[time_part >> 20 & 1023]}{pairs[time_part >> 10 & 1023]}"
        f"{pairs[time_part & 1023]}{pairs[number >> 10 & 1023]}{pairs[number & 1023]}"
    )


def _text(words: tuple[object, ...]) -> str:
    return " ".join(map(str, words))


def _unknown(value: Any) -> Any:
    """What JSON has no form for, such as the bytes of an object that a function made up."""
    return repr(type(value))
