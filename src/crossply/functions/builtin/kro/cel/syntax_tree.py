"""The tree of an expression, and the places of its nodes in the text."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple


class Constant(NamedTuple):
    id: int
    value: Any


class Identifier(NamedTuple):
    id: int
    name: str


class Select(NamedTuple):
    """`operand.field`, or `has(operand.field)`."""

    id: int
    operand: Node
    field: str
    is_test: bool = False


class Call(NamedTuple):
    id: int
    function: str
    target: Node | None
    arguments: tuple[Node, ...]


class ListLiteral(NamedTuple):
    id: int
    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()
    """Which elements are optional, as in `[?first]`."""


class Entry(NamedTuple):
    """A member of a map or of an object, whose key is its field."""

    id: int
    key: Node | str
    value: Node
    is_optional: bool


class MapLiteral(NamedTuple):
    id: int
    entries: tuple[Entry, ...]


class StructLiteral(NamedTuple):
    id: int
    name: str
    entries: tuple[Entry, ...]


class Comprehension(NamedTuple):
    """A loop over a list or a map: what macros such as `all` become."""

    id: int
    range: Node
    variable: str
    second_variable: str
    accumulator: str
    initial: Node
    condition: Node
    step: Node
    result: Node


Node = Constant | Identifier | Select | Call | ListLiteral | MapLiteral | StructLiteral | Comprehension

ACCUMULATOR = "@result"
"""The name of the accumulator of macros."""


class ExpressionError(Exception):
    """An expression cannot be parsed or is not well typed; the message has the place of each issue."""


class Source:
    """The text of an expression, and where its nodes are in it."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines[:-1]:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._positions: list[int] = []

    def new_id(self, position: int) -> int:
        """A number for a node at a place."""
        self._positions.append(position)
        return len(self._positions) - 1

    def copied_id(self, node: int) -> int:
        """A number for a node that is not written in the text, but comes from another one there."""
        return self.new_id(self._positions[node])

    def has_line(self, line: int) -> bool:
        return line < len(self._lines)

    def report(self, issues: list[tuple[int, str]]) -> str:
        """Issues of nodes in the order of the text, each with the line it is about."""
        placed = sorted(((self._place(node), message) for node, message in issues), key=lambda item: item[0])
        return "\n".join(self.shown(line, column, message) for (line, column), message in placed)

    def _place(self, node: int) -> tuple[int, int]:
        position = self._positions[node]
        line = bisect_right(self._starts, position) - 1
        return line, position - self._starts[line]

    def shown(self, line: int, column: int, message: str) -> str:
        """An issue at a place, both counted from 0."""
        text = self._lines[line].replace("\t", " ")
        dots = "".join("." if character.isascii() else "\uff0e" for character in text[:column])
        mark = "^" if text[column : column + 1].isascii() else "\uff3e"
        return f"ERROR: <input>:{line + 1}:{column + 1}: {message}\n | {text}\n | {dots}{mark}"


class Tree(NamedTuple):
    """A parsed expression."""

    root: Node
    source: Source
