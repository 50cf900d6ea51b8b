"""`render --watch`: render again whenever one of the files changes.

The files are looked at a few times a second. That works on every file system, costs next to nothing for the
handful of files that a rendering has, and misses nothing: they are looked at before they are read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from time import sleep

from crossply.cli.failures import report
from crossply.cli.spec import Invocation
from crossply.errors import CrossplyError

_PAUSE = 0.2
_PATHS = (
    "composite-resource",
    "composition",
    "functions",
    "observed-resources",
    "function-credentials",
    "xrd",
)
_LISTS = ("required-resources", "extra-resources")
_CLEAR = "\x1b[2J\x1b[H"

Look = dict[str, tuple[int, int, int]]
"""What tells one content of a file from the next: its time, its size and which file it is, by path."""


def watch(invocation: Invocation, render: Callable[[Invocation], int]) -> int:
    """Render, wait for a change, render again; a broken file is reported and waited for, too."""
    try:
        while True:
            seen = _look(invocation)
            _render_once(invocation, render)
            while _look(invocation) == seen:
                sleep(_PAUSE)
    except KeyboardInterrupt:
        return 0


def _render_once(invocation: Invocation, render: Callable[[Invocation], int]) -> None:
    if invocation.stdout.isatty():
        invocation.stdout.write(_CLEAR)
    try:
        render(invocation)
    except CrossplyError as problem:
        report(problem, invocation.stderr)
    invocation.stdout.flush()
    invocation.stderr.write("crossply: waiting for a change; Ctrl-C ends\n")
    invocation.stderr.flush()


def _look(invocation: Invocation) -> Look:
    found: Look = {}
    for path in _files(invocation):
        try:
            status = os.stat(path)
        except OSError:
            continue  # it may come back; an editor may be in the middle of replacing it
        found[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def _files(invocation: Invocation) -> Iterable[str]:
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
