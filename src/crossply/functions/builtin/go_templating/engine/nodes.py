"""The nodes of a parsed template. Each node has its position and prints as Go prints it in errors."""

from __future__ import annotations

from typing import NamedTuple

from crossply.functions.builtin.go_templating.engine.literals import Number
from crossply.values.goquote import quote


class Text(NamedTuple):
    """Text between actions."""

    at: int
    text: str


class Dot(NamedTuple):
    """The value at hand: `.`."""

    at: int

    def __str__(self) -> str:
        return "."


class Nil(NamedTuple):
    """The constant nil."""

    at: int

    def __str__(self) -> str:
        return "nil"


class Bool(NamedTuple):
    """A boolean constant."""

    at: int
    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


class NumberNode(NamedTuple):
    """A number constant, or a character."""

    at: int
    number: Number

    def __str__(self) -> str:
        return self.number.text


class String(NamedTuple):
    """A string constant."""

    at: int
    quoted: str
    text: str

    def __str__(self) -> str:
        return self.quoted


class Identifier(NamedTuple):
    """The name of a function."""

    at: int
    name: str

    def __str__(self) -> str:
        return self.name


class Field(NamedTuple):
    """A chain of fields of the dot: `.a.b`."""

    at: int
    names: tuple[str, ...]

    def __str__(self) -> str:
        return "".join(f".{name}" for name in self.names)


class Variable(NamedTuple):
    """A variable and fields of it: `$x.a`."""

    at: int
    names: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.names)


class Chain(NamedTuple):
    """Fields of what an expression yields: `(f .x).a.b`."""

    at: int
    node: Operand
    names: tuple[str, ...]

    def __str__(self) -> str:
        return _in_parentheses(self.node) + "".join(f".{name}" for name in self.names)


class Command(NamedTuple):
    """An operand, or a function and its arguments."""

    at: int
    args: tuple[Operand, ...]

    def __str__(self) -> str:
        return " ".join(map(_in_parentheses, self.args))


class Pipe(NamedTuple):
    """Commands that hand their result on, and the variables that take the last one."""

    at: int
    commands: tuple[Command, ...]
    declared: tuple[Variable, ...] = ()
    is_assignment: bool = False

    def __str__(self) -> str:
        head = ""
        if self.declared:
            head = ", ".join(map(str, self.declared)) + (" = " if self.is_assignment else " := ")
        return head + " | ".join(map(str, self.commands))


class Action(NamedTuple):
    """A pipeline whose result is printed, unless it declares variables."""

    at: int
    pipe: Pipe

    def __str__(self) -> str:
        return f"{{{{{self.pipe}}}}}"


class Branch(NamedTuple):
    """`if`, `with` or `range`, with what to do when there is something and when there is nothing."""

    at: int
    kind: str
    pipe: Pipe
    body: Body
    otherwise: Body | None


class Jump(NamedTuple):
    """`break` or `continue`."""

    at: int
    kind: str


class Call(NamedTuple):
    """`template`: render another template here."""

    at: int
    name: str
    pipe: Pipe | None

    def __str__(self) -> str:
        argument = "" if self.pipe is None else f" {self.pipe}"
        return f"{{{{template {quote(self.name)}{argument}}}}}"


class Ending(NamedTuple):
    """`end` or `else`: what closes a body. Never part of a finished tree."""

    at: int
    kind: str

    def __str__(self) -> str:
        return f"{{{{{self.kind}}}}}"


Operand = Dot | Nil | Bool | NumberNode | String | Identifier | Field | Variable | Chain | Pipe
Expression = Operand | Command | Action | Call
"""What an error can point at."""

Statement = Text | Action | Branch | Jump | Call
Body = tuple[Statement, ...]


class Tree(NamedTuple):
    """One template: its name and its body, and the whole text, for the position of a node."""

    name: str
    body: Body
    source: Source


class Source(NamedTuple):
    """The text that templates were read from, and the name that errors call it."""

    name: str
    text: str

    def place(self, at: int) -> str:
        """`name:line:column`; columns count bytes, from zero."""
        before = self.text[:at]
        column = len(before[before.rfind("\n") + 1 :].encode("utf-8", "surrogateescape"))
        return f"{self.name}:{before.count(chr(10)) + 1}:{column}"


def _in_parentheses(node: Operand) -> str:
    return f"({node})" if isinstance(node, Pipe) else str(node)
