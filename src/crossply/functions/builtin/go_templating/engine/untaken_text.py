"""What a branch that was not taken would print: as much of its lines as is known without running it.

Lines that appear or vanish change the fields around them only if they are joined to them, by their place in
a line or by their indentation. Most branches are whole lines, and change nothing but themselves.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from crossply.functions.builtin.go_templating.engine.nodes import (
    Action,
    Body,
    Branch,
    Call,
    Command,
    Identifier,
    NumberNode,
    Pipe,
    String,
    Text,
)

_PRINTED = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for what an action prints."""

_UNKNOWN_LINES = "\N{REPLACEMENT CHARACTER}"
"""Stands for lines of unknown indentation."""

_KEY = re.compile(r"(?:- +)*([^\s:#][^:]*):(?:\s|$)")


class Line(NamedTuple):
    """A line that would be printed; `column` is None when the indentation is not known."""

    column: int | None
    is_item: bool
    key: str
    """The key that the line begins with; empty when it is not known."""
    is_separator: bool


class UntakenText(NamedTuple):
    """The text of a body."""

    text: str

    @property
    def is_empty(self) -> bool:
        return not self.text

    def lines(self) -> list[Line]:
        """The lines that are not blank."""
        return [_line(line) for line in self.text.split("\n") if line.strip()]


def untaken_text(body: Body) -> UntakenText:
    """The text of a body, with the bodies of all branches in it."""
    return UntakenText(_text(body, ""))


def _text(body: Body, before: str) -> str:
    text = ""
    for statement in body:
        if isinstance(statement, Text):
            text += statement.text
        elif isinstance(statement, Branch):
            text += _text(statement.body, text)
            text += _text(statement.otherwise or (), text)
        elif isinstance(statement, Action) and not statement.pipe.declared:
            text += _printed(statement.pipe, before + text)
        elif isinstance(statement, Call):
            text += _UNKNOWN_LINES
    return text


def _printed(pipe: Pipe, before: str) -> str:
    last = pipe.commands[-1]
    name, width = _function(last), _number(last)
    if name == "nindent" and width is not None:
        return f"\n{' ' * width}{_PRINTED}"
    if name == "indent" and width is not None:
        return f"{' ' * width}{_PRINTED}"
    if name == "setResourceNameAnnotation":
        argument = last.args[1] if len(last.args) > 1 else None
        return f"{name}: {argument.text if isinstance(argument, String) else _PRINTED}"
    starts_line = not before.rpartition("\n")[2].strip()
    return _UNKNOWN_LINES if starts_line and name not in _ONE_LINE else _PRINTED


_ONE_LINE = ("", "quote", "squote", "printf", "lower", "upper", "trunc", "default", "toString", "int")


def _function(command: Command) -> str:
    word = command.args[0]
    return word.name if isinstance(word, Identifier) else ""


def _number(command: Command) -> int | None:
    argument = command.args[1] if len(command.args) > 1 else None
    return argument.number.as_int if isinstance(argument, NumberNode) else None


def _line(line: str) -> Line:
    stripped = line.strip()
    if _UNKNOWN_LINES in line:
        return Line(None, False, "", False)
    match = _KEY.match(stripped)
    key = match[1].strip("'\"") if match and _PRINTED not in match[1] else ""
    column = len(line) - len(line.lstrip())
    return Line(column, stripped.startswith("-") and stripped[1:2] in ("", " "), key, line.startswith("---"))
