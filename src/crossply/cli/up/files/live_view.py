"""What `crossply up --watch` shows: the trees, why they are not ready, and what the last saves changed.

On a terminal it is one picture that is painted over and over. Elsewhere every change is a line.
"""

from __future__ import annotations

from datetime import UTC, datetime

from crossply.cli.framework.command import Invocation
from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.screen import Screen
from crossply.cli.framework.styling import is_dumb
from crossply.cli.trace.causes import explain
from crossply.cli.trace.table import Table
from crossply.cli.up.files.save_report import composed_lines, objects_of
from crossply.resource_tree.node import Node, Reference, Trace
from crossply.values import Object

_MOST_SAVES = 4


class Save:
    """One save: what was applied, and what the composed objects were before."""

    def __init__(self, title: str, before: dict[Reference, Object]) -> None:
        self.title = title
        self.before = before
        self.applied: list[str] = []
        self.composed: list[str] = []


class View:
    """What is shown: trees, and the last saves."""

    def __init__(self, invocation: Invocation, header: str) -> None:
        self._style = invocation.style
        self._stdout = invocation.stdout
        self._on_terminal = invocation.stdout.isatty() and not is_dumb(invocation.environ)
        self._screen = Screen(invocation.stdout, invocation.environ)
        self._header = header
        self._saves: list[Save] = []
        self._roots: list[Node] = []
        self._note = ""

    def begin(self, title: str) -> None:
        """A save begins; what changes from now on comes of it."""
        time = datetime.now().astimezone().strftime("%H:%M:%S")
        self._saves.insert(0, Save(f"{time}  {title}", objects_of(self._roots)))
        del self._saves[_MOST_SAVES:]
        self._print([self._saves[0].title])

    def applied(self, lines: list[str]) -> None:
        """What became of the objects of the files."""
        self._saves[0].applied = lines or [self._style.dim("= nothing changed")]
        self._print(self._saves[0].applied)

    def waiting(self, note: str) -> None:
        """Say what is waited for; empty says nothing."""
        if note and note != self._note:
            self._print([note])
        self._note = note
        self._paint()

    def trees(self, roots: list[Node], applied: set[Reference]) -> None:
        """The trees as they are now."""
        self._roots = roots
        if self._saves:
            save = self._saves[0]
            lines = composed_lines(save.before, objects_of(roots), applied, self._style)
            self._print([line for line in lines if line not in save.composed])
            save.composed = lines
        self._paint()

    def _print(self, lines: list[str]) -> None:
        """Where there is no terminal to paint on, news are lines."""
        if not self._on_terminal:
            self._stdout.write("".join(f"{line}\n" for line in lines))
            self._stdout.flush()

    def _paint(self) -> None:
        if self._on_terminal:
            self._screen.paint(self._picture())

    def _picture(self) -> str:
        style = self._style
        parts = ["".join(f"{style.dim(line)}\n" for line in self._header.splitlines())]
        if self._roots:
            trace = Trace(self._roots, is_list=True)
            parts.append(Table(False, style, datetime.now(UTC)).write(trace))
            parts.append(explain(trace, style))
        if self._note:
            parts.append(style.warn(f"○ {harmless(self._note)}") + "\n")
        for save in self._saves:
            lines = [style.bold(save.title), *(f"  {line}" for line in (*save.applied, *save.composed))]
            parts.append("".join(f"{line}\n" for line in lines))
        return "\n".join(part for part in parts if part)
