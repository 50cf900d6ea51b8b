"""Which modules of Crossply a thread enters while something happens."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SOURCE = "/src/crossply/"


@contextmanager
def entered_modules() -> Iterator[list[tuple[str, str]]]:
    """Note each call of this thread: the module and the function; constructors are left out."""
    entered: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        _, source, path = frame.f_code.co_filename.rpartition(_SOURCE)
        if event == "call" and source and frame.f_code.co_name != "__init__":
            entered.append((path.removesuffix(".py"), frame.f_code.co_name))

    sys.setprofile(note)
    try:
        yield entered
    finally:
        sys.setprofile(None)
