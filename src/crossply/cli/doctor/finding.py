"""One finding of `crossply doctor`."""

from __future__ import annotations

from typing import NamedTuple

OK, WARN, FAIL = "OK", "WARN", "FAIL"


class Finding(NamedTuple):
    """What was checked, how it is, and what to do about it."""

    check: str
    state: str
    text: str
    fix: str = ""
    """A command, or what to change; empty where all is well."""
