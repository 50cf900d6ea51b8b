"""Estimates the maximum cost of a rule from its expression and the size limits of its data.

It follows Kubernetes' cost model unit by unit, so that the same rules are too expensive. A unit is about the
cost of reading a field; strings cost a tenth of a unit per character; loops cost their body times the maximum
number of items.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.apiserver.apiextensions.cel_size_estimates import (
    MOST,
    NOTHING,
    ONE,
    UNKNOWN,
    Range,
    Sized,
    fixed,
    possible_overloads,
)
from crossply.schema.cel_ast import Checked, Loop, Node

Path = tuple[str, ...]
_LIST_COST, _MAP_COST, _STRUCT_COST = fixed(10), fixed(30), fixed(40)
_ACCUMULATORS = ("__result__", "@result")
_SCALARS = ("bool", "double", "duration", "int", "timestamp", "uint")


class Entries(NamedTuple):
    """What is known of the members of a list or map that an expression creates."""

    kind: str
    key: Range
    value: Range


class Variable(NamedTuple):
    """A variable of a loop or binding."""

    path: Path
    size: Range | None
    entries: Entries | None = None


class Argument(NamedTuple):
    """A part of a call that its cost depends on."""

    node: Node
    path: Path
    size: Range | None
    kind: str


def estimate(checked: Checked, root: Sized, expression: Node | None = None) -> int:
    """The maximum cost of evaluating an expression about data of these sizes."""
    try:
        return Estimator(checked, root).cost(expression or checked.root).high
    except RecursionError:
        return MOST


class Estimator:
    """One walk over an expression."""

    def __init__(self, checked: Checked, root: Sized) -> None:
        self.checked = checked
        self._root = root
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, Entries] = {}
        self._variables: dict[str, list[Variable]] = {}

    def cost(self, node: Node) -> Range:
        if node.kind == "ident":
            known = self._variable(node.name)
            self._paths[node.id] = known.path if known else (node.name,)
            return ONE
        if node.kind == "select":
            return self._select(node)
        if node.kind == "call":
            return self._call(node)
        if node.loop is not None:
            return self._bind(node, node.loop) if _is_bind(node.loop) else self._loop(node, node.loop)
        return self._created(node)

    def _created(self, node: Node) -> Range:
        total = NOTHING
        for child in node.children:
            total = total.plus(self.cost(child))
        if node.kind == "list":
            self._entries[node.id] = Entries("list", ONE, self._common_size(node.children))
            return total.plus(_LIST_COST)
        if node.kind == "map":
            keys, values = node.children[::2], node.children[1::2]
            self._entries[node.id] = Entries("map", self._common_size(keys), self._common_size(values))
            return total.plus(_MAP_COST)
        return total.plus(_STRUCT_COST) if node.kind == "struct" else NOTHING

    def _common_size(self, nodes: tuple[Node, ...]) -> Range:
        common = Range(MOST, 0) if nodes else NOTHING
        for node in nodes:
            common = common.union(self.size(node))
        return common

    def _select(self, node: Node) -> Range:
        assert node.target is not None
        total = self.cost(node.target)
        if node.value:  # has() is free
            return total
        if self.kind(node.target) in ("map", "object", "struct", "type_param"):
            total = total.plus(ONE)
        self._paths[node.id] = (*self._path(node.target), node.name)
        return total

    def _call(self, node: Node) -> Range:
        from crossply.apiserver.apiextensions.cel_function_cost import call_cost

        if node.name == "dyn":
            cost = self.cost(node.children[0])
            self._copy_sizes(node, node.children[0])
            return ONE.plus(cost)
        costs = [self.cost(argument) for argument in node.children]
        arguments = [self._argument(argument) for argument in node.children]
        overloads = possible_overloads(self.checked, node)
        if not overloads:
            return NOTHING
        total, target = NOTHING, None
        if node.target is not None:
            total = self.cost(node.target)
            target = self._argument(node.target)
        price, size = Range(MOST, 0), None
        for overload in overloads:
            cost, result = call_cost(self, node, overload, target, arguments, costs)
            price = price.union(cost)
            if result is not None:
                size = result if size is None else size.union(result)
            if overload in ("index_list", "index_map") and arguments:
                size = self._index(node, overload)
            if size is None:
                size = self._known_size(node)
        if size is not None:
            self._sizes[node.id] = size
        return total.plus(price)

    def _index(self, node: Node, overload: str) -> Range | None:
        operand = node.children[0]
        step = "@items" if overload == "index_list" else "@values"
        self._paths[node.id] = (*self._path(operand), step)
        entries = self.entries(operand)
        return entries.value if entries else None

    def _loop(self, node: Node, loop: Loop) -> Range:
        total = self.cost(loop.over).plus(self.cost(loop.start))
        result = Variable(self._path(loop.start), self._known_size(loop.start), self.entries(loop.start))
        self._push(loop.result_variable, result)
        names = self._push_iteration(loop)
        turn = self.cost(loop.condition).plus(self.cost(loop.step))
        for name in names:
            self._variables[name].pop()
        total = total.plus(self.cost(loop.result))
        self._variables[loop.result_variable].pop()
        turns = self.size(loop.over)
        if loop.start.kind == "const":
            self._note_size(node, self._known_size(loop.start))
        elif loop.start.kind in ("list", "map"):
            self._sizes[node.id] = turns
            self._note_entries(node, self.entries(loop.step))
        return total.plus(turns.times(turn))

    def _push_iteration(self, loop: Loop) -> list[str]:
        entries, path = self.entries(loop.over), self._path(loop.over)
        is_list = (entries.kind if entries else self.kind(loop.over)) == "list"
        key, value = (entries.key, entries.value) if entries else (None, None)
        by_value = Variable((*path, "@items" if is_list else "@values"), value)
        by_key = Variable((*path, "@indices" if is_list else "@keys"), key)
        if loop.second_variable:
            self._push(loop.variable, by_key)
            self._push(loop.second_variable, by_value)
            return [loop.variable, loop.second_variable]
        self._push(loop.variable, by_value if is_list else by_key)
        return [loop.variable]

    def _bind(self, node: Node, loop: Loop) -> Range:
        total = self.cost(loop.over).plus(self.cost(loop.start))
        bound = Variable(self._path(loop.start), self._known_size(loop.start), self.entries(loop.start))
        self._push(loop.result_variable, bound)
        total = total.plus(self.cost(loop.result))
        self._variables[loop.result_variable].pop()
        self._copy_sizes(node, loop.result)
        return total

    def size(self, node: Node) -> Range:
        """The size of an expression's value."""
        return self._known_size(node) or UNKNOWN

    def entries(self, node: Node) -> Entries | None:
        """What is known of the members of a list or map."""
        if node.id in self._entries:
            return self._entries[node.id]
        known = self._variable(node.name) if node.kind == "ident" else None
        return known.entries if known else None

    def set_entries(self, node: Node, left: Node, right: Node) -> None:
        """Note that an expression has the members of either of two others."""
        first, second = self.entries(left), self.entries(right)
        if first and second:
            joined = Entries(first.kind, first.key.union(second.key), first.value.union(second.value))
            self._entries[node.id] = joined

    def kind(self, node: Node) -> str:
        """The kind of an expression's value: declared by the schema, or else by the type checker."""
        declared = self.declared(self._path(node))
        return declared.kind if declared and len(self._path(node)) > 0 else self.checked.type_of(node).kind

    def declared(self, path: Path) -> Sized | None:
        """The schema node that a path leads to; its first step is a variable."""
        if not path:
            return None
        sized: Sized | None = self._root
        for step in path[1:]:
            sized = sized.at(step) if sized else None
        return sized

    def _known_size(self, node: Node) -> Range | None:
        if node.id in self._sizes:
            return self._sizes[node.id]
        written = _written_size(node)
        if written is not None:
            return written
        declared = self.declared(self._path(node))
        if declared is not None:
            self._sizes[node.id] = Range(0, declared.most)
            return self._sizes[node.id]
        if self.checked.type_of(node).kind in _SCALARS:
            return ONE
        known = self._variable(node.name) if node.kind == "ident" else None
        return known.size if known else None

    def _argument(self, node: Node) -> Argument:
        path = self._path(node)
        if path and path[0] in _ACCUMULATORS:
            path = ()
        return Argument(node, path, self._known_size(node), self.kind(node))

    def _path(self, node: Node) -> Path:
        known = self._variable(node.name) if node.kind == "ident" else None
        return known.path if known else self._paths.get(node.id, ())

    def _variable(self, name: str) -> Variable | None:
        stack = self._variables.get(name)
        return stack[-1] if stack else None

    def _push(self, name: str, variable: Variable) -> None:
        self._variables.setdefault(name, []).append(variable)

    def _note_size(self, node: Node, size: Range | None) -> None:
        if size is not None:
            self._sizes[node.id] = size

    def _note_entries(self, node: Node, entries: Entries | None) -> None:
        if entries is not None:
            self._entries[node.id] = entries

    def _copy_sizes(self, node: Node, source: Node) -> None:
        self._note_size(node, self._known_size(source))
        self._note_entries(node, self.entries(source))


def _written_size(node: Node) -> Range | None:
    if node.kind == "const":
        return fixed(len(node.value)) if node.name in ("string", "bytes") else ONE
    if node.kind == "list":
        return fixed(len(node.children))
    return fixed(len(node.children) // 2) if node.kind == "map" else None


def _is_bind(loop: Loop) -> bool:
    never = loop.condition.kind == "const" and loop.condition.name == "bool" and not loop.condition.value
    empty = loop.over.kind == "list" and not loop.over.children
    return never and empty and loop.result_variable not in _ACCUMULATORS
