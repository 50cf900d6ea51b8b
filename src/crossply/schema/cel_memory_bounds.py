"""An upper bound for the bytes that an expression reads or writes, by the size of its data.

The evaluator counts the turns of loops, not what is made in them: texts that double, and lists of lists.
A bound is a sum over the items of the loops around: looking at each item once costs the list once, not its
length times its size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crossply.schema.cel_ast import Loop, Node

MOST_TURNS = 10_000
"""How many turns of loops the evaluator allows."""

Bound = dict[str, float]
"""Bytes: a constant (under the empty name), and a factor for the size of each loop's current item."""

_SCALAR: Bound = {"": 16.0}
_ITEM_BYTES = 4.0
_IN_PYTHON = 20.0
_OPERATORS = (
    "_&&_",
    "_||_",
    "!_",
    "_==_",
    "_!=_",
    "_<_",
    "_<=_",
    "_>_",
    "_>=_",
    "_-_",
    "_*_",
    "_/_",
    "_%_",
    "-_",
)
_COMPARISONS = frozenset(("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"))
_SETS = ("sets.contains", "sets.equivalent", "sets.intersects")
_SEARCHES = ("@in", "startsWith", "endsWith", "contains", "matches", "indexOf", "lastIndexOf", "size")
_CONVERSIONS = (
    "int",
    "uint",
    "double",
    "bool",
    "type",
    "duration",
    "timestamp",
    "quantity",
    "semver",
    "ip",
    "cidr",
)
_CHECKS = (
    "hasValue",
    "isSorted",
    "isQuantity",
    "isSemver",
    "isIP",
    "isCIDR",
    "isURL",
    "isInteger",
    "compareTo",
)
_GIVES_SCALAR = frozenset(
    (*_OPERATORS, *_SETS, *_SEARCHES, *_CONVERSIONS, *_CHECKS, "isGreaterThan", "isLessThan", "allowed")
)
_LIST_FUNCTIONS = ("distinct", "sort", "flatten", "slice", "sum", "min", "max", "isSorted", "reverseItems")
_RUNS_IN_PYTHON = frozenset((*_SETS, *_LIST_FUNCTIONS, "indexOfItem", "lastIndexOfItem", "find", "findAll"))
_PASSES_ON = frozenset(
    ("_[_]", "_?._", "_[?_]", "_?_:_", "_&&_", "_||_", "!_", "orValue", "or", "optional.of", "value")
)


class Effort(NamedTuple):
    """The largest value of an expression, and all that is read and written on the way to it."""

    size: Bound
    work: Bound
    once: float
    """The work without the turns of loops, in bytes."""


def most_bytes(root: Node, data: float) -> float:
    """The most that evaluating an expression can read and write, where each variable has so many bytes."""
    try:
        walk = _Walk(data)
        effort = walk.effort(root)
    except RecursionError:
        return float("inf")
    work = min(walk.total(effort.work), effort.once + MOST_TURNS * walk.heaviest_turn)
    return work + walk.total(effort.size)


class _Walk:
    def __init__(self, data: float) -> None:
        self._data = data
        self._variables: dict[str, list[Bound]] = {}
        self._items: dict[str, float] = {}
        self.heaviest_turn = 0.0

    def total(self, bound: Bound) -> float:
        """A bound as a number: every item as large as the list that it is from."""
        return sum(factor * self._items.get(name, 1.0) for name, factor in bound.items())

    def effort(self, node: Node) -> Effort:
        if node.kind == "const":
            size = float(len(node.value)) + 3 if isinstance(node.value, str | bytes) else 9.0
            return Effort({"": size}, {"": 1.0}, 1.0)
        if node.kind == "ident":
            known = self._variables.get(node.name)
            return Effort(known[-1] if known else {"": self._data}, {"": 1.0}, 1.0)
        if node.kind == "select":
            assert node.target is not None
            inner = self.effort(node.target)
            return self._effort(_SCALAR if node.value else inner.size, [inner], {"": 1.0})
        if node.loop is not None:
            return self._loop(node.loop)
        if node.kind == "call":
            return self._call(node)
        parts = [self.effort(child) for child in node.children]
        return self._effort(_plus({"": 16.0}, *(part.size for part in parts)), parts, {"": 16.0})

    def _effort(self, size: Bound, parts: list[Effort], work: Bound) -> Effort:
        once = self.total(work) + sum(part.once for part in parts)
        return Effort(size, _plus(work, *(part.work for part in parts)), once)

    def _call(self, node: Node) -> Effort:
        parts = [self.effort(part) for part in ((node.target,) if node.target else ()) + node.children]
        sizes = [part.size for part in parts]
        size = self._result(node, sizes)
        if node.name in _PASSES_ON:
            return self._effort(size, parts, {"": 1.0})
        read = min(sizes, key=self.total) if node.name in _COMPARISONS else _plus(*sizes)
        factor = _IN_PYTHON if node.name in _RUNS_IN_PYTHON else 1.0
        return self._effort(size, parts, _plus({"": 1.0}, _times(read, factor), size))

    def _result(self, node: Node, sizes: list[Bound]) -> Bound:
        name = node.name
        if name in _GIVES_SCALAR or not sizes:
            return _SCALAR
        if name == "_?_:_":
            return self._larger(sizes[1], sizes[2])
        if name in ("_[_]", "_?._", "_[?_]"):
            return sizes[0]
        if name == "replace" and len(sizes) > 2:
            return _times(_plus(sizes[0], {"": 1.0}), 1 + self.total(sizes[2]))
        if name == "join" and len(sizes) > 1:
            return _times(sizes[0], 1 + self.total(sizes[1]))
        if name == "format":
            return _times(_plus(sizes[0], {"": 1.0}), 8 + 4 * self.total(_plus(*sizes[1:])))
        if name == "split":
            return _times(sizes[0], 4.0)
        if name == "lists.range":
            return {"": 9.0 * 100_000}
        return (
            _plus(_SCALAR, *sizes) if name in ("_+_", "orValue", "or") else _times(_plus(_SCALAR, *sizes), 2)
        )

    def _larger(self, one: Bound, other: Bound) -> Bound:
        return {name: max(one.get(name, 0.0), other.get(name, 0.0)) for name in {*one, *other}}

    def _loop(self, loop: Loop) -> Effort:
        over, start = self.effort(loop.over), self.effort(loop.start)
        if loop.over.kind == "list" and not loop.over.children:  # cel.bind
            with_result = self._with({loop.result_variable: start.size}, loop.result)
            return self._effort(with_result.size, [over, start, with_result], {})
        item = f"{loop.variable} {len(self._items)}"
        self._items[item] = self.total(over.size)
        names: dict[str, Bound] = {loop.variable: {item: 1.0}, loop.result_variable: {}}
        if loop.second_variable:
            names[loop.second_variable] = {item: 1.0}
        condition, step = self._with(names, loop.condition), self._with(names, loop.step)
        self.heaviest_turn = max(self.heaviest_turn, condition.once + step.once)
        written = self._sum(step.size, item, over.size)
        turns = self._sum(_plus(condition.work, step.work), item, over.size)
        result = self._with({loop.result_variable: _plus(start.size, written)}, loop.result)
        total = self._effort(result.size, [over, start, result], {})
        return total._replace(work=_plus(total.work, turns))

    def _with(self, names: Mapping[str, Bound], node: Node) -> Effort:
        for name, bound in names.items():
            self._variables.setdefault(name, []).append(bound)
        effort = self.effort(node)
        for name in names:
            self._variables[name].pop()
        return effort

    def _sum(self, turn: Bound, item: str, over: Bound) -> Bound:
        """What all turns take, where one takes so much."""
        per_item = self.total({name: factor for name, factor in turn.items() if name != item})
        turns = _plus(_times(over, 1 / _ITEM_BYTES), {"": 1.0})
        if set(turns) == {""} and turns[""] > MOST_TURNS:
            turns = {"": float(MOST_TURNS)}
        return _plus(_times(over, turn.get(item, 0.0)), _times(turns, per_item))


def _plus(*bounds: Bound) -> Bound:
    total: Bound = {}
    for bound in bounds:
        for name, factor in bound.items():
            total[name] = total.get(name, 0.0) + factor
    return total


def _times(bound: Bound, factor: float) -> Bound:
    return {name: size * factor for name, size in bound.items()}
