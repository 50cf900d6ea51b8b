"""The language of `outlaw`, with files in memory. Only for tests."""

from __future__ import annotations

from collections.abc import Mapping

import outlaw

FILES = {"/books/one.txt": b"first", "/books/deep/two.txt": b"second" * 10_000, "/three": b""}

load = outlaw.load


def prepare(program: bytes) -> Mapping[str, bytes]:
    """The same files for each program."""
    return FILES
