"""`--watch`: run a command again whenever one of its files changes.

The files are polled a few times a second. That works on every file system, costs next to nothing for the
handful of files that a rendering or a suite of tests has, and misses nothing: they are checked before they
are read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from time import sleep

from crossply.cli.framework.command import Invocation
from crossply.cli.framework.failure_reports import report
from crossply.cli.framework.styling import is_dumb
from crossply.errors import CrossplyError

_PAUSE = 0.2
_CLEAR = "\x1b[2J\x1b[H"

FileStates = dict[str, tuple[int, int, int]]
"""The identity of a file's content, by path: its time, its size and its inode."""

Files = Callable[[], Iterable[str]]


def watch(invocation: Invocation, work: Callable[[Invocation], int], files: Files) -> int:
    """Do it, wait for a change, do it again; a broken file is reported and waited for, too."""
    try:
        while True:
            before = file_states(files)
            _once(invocation, work)
            while file_states(files) == before:
                sleep(_PAUSE)
    except KeyboardInterrupt:
        return 0


def _once(invocation: Invocation, work: Callable[[Invocation], int]) -> None:
    if invocation.stdout.isatty() and not is_dumb(invocation.environ):
        invocation.stdout.write(_CLEAR)
    try:
        work(invocation)
    except CrossplyError as problem:
        report(problem, invocation.stderr)
    invocation.stdout.flush()
    invocation.stderr.write("crossply: waiting for a change; Ctrl-C ends\n")
    invocation.stderr.flush()


def file_states(files: Files) -> FileStates:
    """The states of files; those that do not exist now are left out."""
    states: FileStates = {}
    for path in files():
        try:
            status = os.stat(path)
        except OSError:
            continue  # it may come back; an editor may be in the middle of replacing it
        states[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return states
