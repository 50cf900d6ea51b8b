"""The stored form of a run, compressed, and the way back."""

from __future__ import annotations

import sys
from typing import Any

import orjson

from crossply.runs.errors import RunUnreadable
from crossply.runs.model import Run, RunSummary, Subject
from crossply.values import Object

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LEVEL = 1
_LARGEST = 256 << 20
"""No record is larger; a damaged or hostile one may say so."""


class RunCompressor:
    """Compresses runs, one at a time; its memory is used again for each."""

    def __init__(self) -> None:
        self._compressor = zstd.ZstdCompressor(_LEVEL)

    def compress(self, data: bytes) -> bytes:
        """The data, compressed."""
        return self._compressor.compress(data, zstd.ZstdCompressor.FLUSH_FRAME)


def decompress(data: bytes) -> bytes:
    """The data that were compressed; raises RunUnreadable."""
    try:
        decompressor = zstd.ZstdDecompressor()
        result = decompressor.decompress(data, _LARGEST)
    except zstd.ZstdError as problem:
        raise RunUnreadable(f"the recorded run is damaged: {problem}") from None
    if not decompressor.eof:
        raise RunUnreadable("the recorded run is damaged, or larger than any run can be")
    return result


def read_summary(document: Object, repeats: int = 0, replica: str = "") -> RunSummary:
    """A summary as it is stored; raises RunUnreadable."""
    try:
        return RunSummary(
            id=document["id"],
            subject=Subject(*document["subject"]),
            started=document["started"],
            seconds=document["seconds"],
            triggers=tuple(document["triggers"]),
            outcome=document["outcome"],
            problem=document["problem"],
            code=document["code"],
            composition=document["composition"],
            revision=document["revision"],
            changes=tuple(document["changes"]),
            steps=document["steps"],
            repeats=repeats,
            replica=replica,
        )
    except (KeyError, TypeError) as problem:
        raise RunUnreadable(f"the summary of a run cannot be read: {problem!r}") from None


def read_run(data: bytes, repeats: int = 0, replica: str = "") -> Run:
    """A whole run as it is stored; raises RunUnreadable."""
    from crossply.runs.decoded_run_steps import assemble
    from crossply.runs.decoding import DecodedRun

    if not data:
        raise RunUnreadable("the run was too large to be recorded whole")
    try:
        document: Any = orjson.loads(decompress(data))
    except orjson.JSONDecodeError as problem:
        raise RunUnreadable(f"the recorded run is damaged: {problem}") from None
    if not isinstance(document, dict) or not isinstance(document.get("summary"), dict):
        raise RunUnreadable("the recorded run is damaged")
    summary = read_summary(document["summary"], repeats, replica)
    return assemble(summary, DecodedRun(document), document["summary"].get("redacted", 0))
