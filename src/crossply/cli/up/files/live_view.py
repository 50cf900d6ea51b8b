"""What `crossply up --watch` shows: the trees, why they are not ready, and what the last saves changed.

On a terminal it is one picture that is painted over and over. Elsewhere every change is a line. A save
changes the files' own objects, and what is composed of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from crossply.cli.framework.command import Invocation
from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.screen import Screen
from crossply.cli.framework.styling import Style, is_dumb
from crossply.cli.plan.text_output import field_text, sign_of
from crossply.cli.trace.causes import explain
from crossply.cli.trace.table import Table
from crossply.cli.up.files.applier import CHANGED, CREATED, DELETED, FAILED, NOT_DELETED, Outcome
from crossply.cli.up.files.file_set import relative
from crossply.control.planning.field_changes import Field, fields_between
from crossply.resource_tree.node import RESOURCE_NAME, Node, Reference, Trace
from crossply.values import Object

_MOST_SAVES = 4

MOST_FIELDS = 8
_MOST_OBJECTS = 12
_SIGNS = {CREATED: "+", CHANGED: "~", DELETED: "-", NOT_DELETED: "!", FAILED: "!"}
_UNINTERESTING = ("status", "metadata.finalizers", "spec.resourceRefs", "spec.crossplane.resourceRefs")
_Objects = Mapping[Reference, Object]


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
        self._saves.insert(0, Save(f"{time}  {title}", _objects_of(self._roots)))
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
            lines = composed_lines(save.before, _objects_of(roots), applied, self._style)
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


def _objects_of(roots: Sequence[Node]) -> dict[Reference, Object]:
    """Every object that exists in some trees."""
    return {node.reference: node.object for root in roots for node in root.walk() if node.problem is None}


def outcome_lines(outcomes: Sequence[Outcome], style: Style) -> list[str]:
    """A line for each object that is not as it was, with its fields below."""
    lines: list[str] = []
    for outcome in outcomes:
        sign = _SIGNS.get(outcome.action)
        if sign is None:
            continue
        label = harmless(outcome.item.label)
        if outcome.action == FAILED:
            lines.append(style.sign(sign, f"! {label}: {harmless(outcome.problem)}"))
            lines.append(f"    at {harmless(relative(outcome.item.place))}")
            lines += [f"    try: {style.accent(harmless(outcome.hint))}"] if outcome.hint else []
        elif outcome.action == NOT_DELETED:
            text = f"! {label} is no longer in the files, and is kept; {harmless(outcome.hint)} deletes it"
            lines.append(style.sign(sign, text))
        else:
            lines.append(style.sign(sign, f"{sign} {label} {outcome.action}"))
            lines += _fields(outcome.fields, style)
    return lines


def composed_lines(before: _Objects, after: _Objects, applied: set[Reference], style: Style) -> list[str]:
    """What came, went and changed among composed objects; those of the files are left out."""
    references = [reference for reference in dict.fromkeys((*before, *after)) if reference not in applied]
    changes = list(filter(None, (_change(reference, before, after, style) for reference in references)))
    lines = [line for change in changes[:_MOST_OBJECTS] for line in change]
    if len(changes) > _MOST_OBJECTS:
        lines.append(f"and {len(changes) - _MOST_OBJECTS} more objects")
    return lines


def _change(reference: Reference, before: _Objects, after: _Objects, style: Style) -> list[str]:
    if reference not in after:
        return [style.sign("-", f"- {_label(reference, before)} deleted")]
    if reference not in before:
        return [style.sign("+", f"+ {_label(reference, after)} created")]
    fields = [
        field
        for field in fields_between(before[reference], after[reference])
        if not field.path.startswith(_UNINTERESTING)
    ]
    if not fields:
        return []
    return [style.sign("~", f"~ {_label(reference, after)} changed"), *_fields(fields, style)]


def _label(reference: Reference, objects: _Objects) -> str:
    annotations = (objects[reference].get("metadata") or {}).get("annotations") or {}
    resource = annotations.get(RESOURCE_NAME)
    return harmless(f"{reference.label}" + (f", resource {resource}" if resource else ""))


def _fields(fields: Sequence[Field], style: Style) -> Iterator[str]:
    for field in fields[:MOST_FIELDS]:
        yield "    " + style.sign(sign_of(field), f"{sign_of(field)} {field_text(field)}")
    if len(fields) > MOST_FIELDS:
        yield f"    and {len(fields) - MOST_FIELDS} more fields"
