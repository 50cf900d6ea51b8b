"""`render --watch`: render again whenever one of the files changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from crossply.cli.failures import report
from crossply.cli.spec import Invocation
from crossply.errors import CrossplyError

_PATHS = ("composite-resource", "composition", "functions", "observed-resources", "required-schemas")
_MORE_PATHS = ("function-credentials", "xrd")
_LISTS = ("required-resources", "extra-resources")
_CLEAR = "\x1b[2J\x1b[H"


def watch(invocation: Invocation, render: Callable[[Invocation], int]) -> int:
    """Render, wait for a change, render again; a broken file is reported and waited for, too."""
    from watchfiles import watch as changes

    watched = frozenset(_watched(invocation))
    folders = {path if os.path.isdir(path) else os.path.dirname(path) or "." for path in watched}
    _render_once(invocation, render)
    # Editors replace files, so the folders are watched and what happens in them is filtered.
    for batch in changes(*folders, recursive=False, raise_interrupt=False, watch_filter=None):
        if any(_concerns(path, watched) for _, path in batch):
            _render_once(invocation, render)
    return 0


def _watched(invocation: Invocation) -> Iterable[str]:
    for name in (*_PATHS, *_MORE_PATHS):
        if invocation[name]:
            yield os.path.abspath(invocation[name])
    for name in _LISTS:
        yield from map(os.path.abspath, invocation[name] or ())
    yield from map(os.path.abspath, (invocation["context-files"] or {}).values())


def _concerns(path: str, watched: frozenset[str]) -> bool:
    path = os.path.abspath(path)
    return path in watched or os.path.dirname(path) in watched


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
