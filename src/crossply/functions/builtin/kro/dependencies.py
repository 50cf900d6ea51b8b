"""What an expression refers to, and the order of resources that follows from it."""

from __future__ import annotations

import heapq
from typing import NamedTuple

from crossply.functions.builtin.kro.cel.environment import qualified_name
from crossply.functions.builtin.kro.cel.overload_declarations import functions
from crossply.functions.builtin.kro.cel.syntax_tree import (
    Call,
    Comprehension,
    Identifier,
    ListLiteral,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
)
from crossply.functions.builtin.kro.expressions import GraphError


class Inspection(NamedTuple):
    """The variables and functions of an expression, each once, in the order in which they come."""

    known: tuple[str, ...]
    unknown: tuple[str, ...]
    unknown_functions: tuple[str, ...]
    uses_omit: bool


def inspect(root: Node, variables: frozenset[str]) -> Inspection:
    """What an expression refers to, where these variables are known."""
    inspector = _Inspector(variables)
    inspector.visit(root, frozenset())
    return Inspection(
        tuple(dict.fromkeys(inspector.known)),
        tuple(dict.fromkeys(inspector.unknown)),
        tuple(inspector.unknown_functions),
        inspector.uses_omit,
    )


class _Inspector:
    def __init__(self, variables: frozenset[str]) -> None:
        self._variables = variables
        self.known: list[str] = []
        self.unknown: list[str] = []
        self.unknown_functions: list[str] = []
        self.uses_omit = False

    def visit(self, node: Node, loop_variables: frozenset[str]) -> None:
        if isinstance(node, Identifier):
            self._identifier(node.name, loop_variables)
        elif isinstance(node, Select):
            self.visit(node.operand, loop_variables)
        elif isinstance(node, Call):
            self._call(node, loop_variables)
        elif isinstance(node, Comprehension):
            inner = loop_variables | {node.variable, node.second_variable, node.accumulator}
            for part in (node.initial, node.range, node.condition, node.step, node.result):
                self.visit(part, inner)
        elif isinstance(node, ListLiteral):
            for element in node.elements:
                self.visit(element, loop_variables)
        elif isinstance(node, MapLiteral | StructLiteral):
            for entry in node.entries:
                if not isinstance(entry.key, str):
                    self.visit(entry.key, loop_variables)
                self.visit(entry.value, loop_variables)

    def _identifier(self, name: str, loop_variables: frozenset[str]) -> None:
        if name in loop_variables or name.startswith(("@result", "$$", "@__")):
            return
        (self.known if name in self._variables else self.unknown).append(name)

    def _call(self, node: Call, loop_variables: frozenset[str]) -> None:
        for argument in node.arguments:
            self.visit(argument, loop_variables)
        if node.target is not None:
            if f"{qualified_name(node.target)}.{node.function}" not in functions():
                self.visit(node.target, loop_variables)
        elif node.function == "omit":
            self.uses_omit = True
        elif node.function not in functions():
            self.unknown_functions.append(node.function)


def ordered(dependencies: dict[str, list[str]]) -> list[str]:
    """Names such that each comes after what it depends on, and otherwise in their own order."""
    places = {name: place for place, name in enumerate(dependencies)}
    waiting = {name: set(needed) for name, needed in dependencies.items()}
    ready = [places[name] for name, needed in waiting.items() if not needed]
    heapq.heapify(ready)
    names = list(dependencies)
    order: list[str] = []
    while ready:
        name = names[heapq.heappop(ready)]
        order.append(name)
        for dependent, needed in waiting.items():
            if name in needed:
                needed.discard(name)
                if not needed:
                    heapq.heappush(ready, places[dependent])
    return order


def check_acyclic(dependencies: dict[str, list[str]]) -> None:
    """Raise GraphError with a cycle of dependencies, if there is one."""
    finished: set[str] = set()
    for start in dependencies:
        path: list[str] = []
        pending = [(start, iter(dependencies[start]))] if start not in finished else []
        path += [start] if pending else []
        while pending:
            name, rest = pending[-1]
            following = next(rest, None)
            if following is None:
                finished.add(name)
                pending.pop()
                path.pop()
            elif following in path:
                cycle = [*path[path.index(following) :], following]
                raise GraphError(f"graph contains a cycle: {' -> '.join(cycle)}")
            elif following not in finished:
                path.append(following)
                pending.append((following, iter(dependencies.get(following, []))))
