"""`render --watch`: the files that a rendering depends on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from crossply.cli.framework.command import Invocation

_PATHS = (
    "composite-resource",
    "composition",
    "functions",
    "observed-resources",
    "function-credentials",
    "xrd",
)
_LISTS = ("required-resources", "extra-resources")


def files_of(invocation: Invocation) -> Iterable[str]:
    """Every file that the command line names, and those in the directories that it names."""
    for name in _PATHS:
        yield from _within(invocation[name])
    for name in _LISTS:
        for path in invocation[name] or ():
            yield from _within(path)
    yield from (invocation["context-files"] or {}).values()
    for folder, _, names in os.walk(invocation["required-schemas"] or ""):
        yield from (os.path.join(folder, name) for name in names)


def _within(path: str | None) -> Iterable[str]:
    """The file itself, or the files right inside a directory."""
    if not path:
        return
    yield path
    with suppress(OSError):  # not a directory, or not any more
        yield from [os.path.join(path, name) for name in os.listdir(path)]
