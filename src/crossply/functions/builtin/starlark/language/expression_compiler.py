"""Expressions: what Starlark does differently becomes a call of a helper.

The name of a helper begins with `%`, which no name of a script can. Nodes are placed where Starlark in Go
reports their errors: a call at its parenthesis, an operation at its operator,
arguments that do not fit where the function begins to compute.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from crossply.functions.builtin.starlark.language.parser import Source

Position = tuple[int, int]
"""Line and column, as Python's parser counts them."""

BINARY: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "add"),
    ast.Sub: ("-", "subtract"),
    ast.Mult: ("*", "multiply"),
    ast.Div: ("/", "divide"),
    ast.FloorDiv: ("//", "floor_divide"),
    ast.Mod: ("%", "modulo"),
    ast.BitOr: ("|", "bit_or"),
    ast.BitAnd: ("&", "bit_and"),
    ast.BitXor: ("^", "bit_xor"),
    ast.LShift: ("<<", "shift_left"),
    ast.RShift: (">>", "shift_right"),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "equal"),
    ast.NotEq: ("!=", "not_equal"),
    ast.Lt: ("<", "less"),
    ast.LtE: ("<=", "less_or_equal"),
    ast.Gt: (">", "greater"),
    ast.GtE: (">=", "greater_or_equal"),
    ast.In: ("in", "contains"),
    ast.NotIn: ("not", "excludes"),
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "negate", ast.UAdd: "plus", ast.Invert: "invert"}
PREFIX = "%"
_POSITIONED = (ast.Attribute, ast.BinOp, ast.Call, ast.Compare, ast.Name, ast.Subscript, ast.UnaryOp)


def placed(node: ast.expr, position: Position) -> ast.expr:
    node.lineno, node.col_offset = position
    node.end_lineno, node.end_col_offset = position[0], position[1] + 1
    return node


def name(identifier: str, position: Position, context: ast.expr_context | None = None) -> ast.expr:
    return placed(ast.Name(identifier, context or ast.Load()), position)


def constant(value: Any, position: Position) -> ast.expr:
    return placed(ast.Constant(value), position)


def helper(identifier: str, position: Position, *arguments: ast.expr) -> ast.expr:
    """A call of a helper."""
    function = name(PREFIX + identifier, position)
    return placed(ast.Call(function, list(arguments), []), position)


def start_of(node: ast.expr | ast.stmt) -> Position:
    return node.lineno, node.col_offset


class ExpressionCompiler(ast.NodeTransformer):
    """Turns the expressions of Starlark into those of Python."""

    def __init__(self, source: Source, universal: frozenset[str]) -> None:
        """`universal` are the names of the universe that the script does not redefine."""
        self._source = source
        self._universal = universal

    def after(self, node: ast.expr, mark: str) -> Position:
        """The position of a mark behind an expression."""
        return self._source.find(node.end_lineno or node.lineno, node.end_col_offset or 0, mark)

    def expression(self, node: ast.expr) -> ast.expr:
        result: ast.expr = self.visit(node)
        return result

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        _, function = BINARY[type(node.op)]
        position = self.place_of(node)
        return helper(function, position, self.expression(node.left), self.expression(node.right))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        _, function = _COMPARISONS[type(node.ops[0])]
        position = self.place_of(node)
        return helper(function, position, self.expression(node.left), self.expression(node.comparators[0]))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        position, operand = start_of(node), self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            return placed(ast.UnaryOp(node.op, operand), position)
        return helper(_UNARY[type(node.op)], position, operand)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        position = self.place_of(node)
        function = self.expression(node.func)
        arguments: list[ast.expr] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                values = helper("positional", position, self.expression(argument.value))
                arguments.append(placed(ast.Starred(values, ast.Load()), position))
            else:
                arguments.append(self.expression(argument))
        keywords = []
        for keyword in node.keywords:
            value = self.expression(keyword.value)
            if keyword.arg is None:
                value = helper("by_name", position, value)
            keywords.append(ast.copy_location(ast.keyword(keyword.arg, value), keyword))
        call = ast.Call(name(f"{PREFIX}call", position), [function, *arguments], keywords)
        return placed(call, position)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        position = self.place_of(node)
        return helper("get_attribute", position, self.expression(node.value), constant(node.attr, position))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        position = self.place_of(node)
        value, key = self.expression(node.value), node.slice
        if not isinstance(key, ast.Slice):
            return helper("get_index", position, value, self.expression(key))
        parts = (
            constant(None, position) if part is None else self.expression(part)
            for part in (key.lower, key.upper, key.step)
        )
        return helper("get_slice", position, value, *parts)

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        keys = [key for key in node.keys if key is not None]
        literal = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        values = [self.expression(value) for value in node.values]
        if len(literal) == len(keys) == len(set(literal)):
            return placed(ast.Dict(list(keys), values), start_of(node))
        repeated = _repeated(keys)
        position = self.after(repeated, ":")
        items = [
            item for key, value in zip(keys, values, strict=True) for item in (self.expression(key), value)
        ]
        return helper("make_dict", position, *items)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        position = start_of(node)
        parameters = self.parameters(node.args)
        maker = self.function_maker("lambda", [ast.Expr(node.body)], position)
        function = placed(ast.Lambda(parameters, self.expression(node.body)), position)
        return placed(ast.Call(maker, [function], []), position)

    def function_maker(self, function: str, body: list[ast.stmt], position: Position) -> ast.expr:
        """What makes a function of Starlark out of one of Python."""
        entry = _entry_node(body, self._universal)
        place = self._source.place(*(position if entry is None else self.place_of(entry)))
        return helper("function", position, constant(function, position), constant(place, position))

    def place_of(self, node: ast.expr) -> Position:
        """Where an error in an expression is reported."""
        if isinstance(node, ast.BinOp):
            return self.after(node.left, BINARY[type(node.op)][0])
        if isinstance(node, ast.Compare):
            return self.after(node.left, _COMPARISONS[type(node.ops[0])][0])
        if isinstance(node, ast.Call):
            return self.after(node.func, "(")
        if isinstance(node, ast.Attribute | ast.Subscript):
            return self.after(node.value, "." if isinstance(node, ast.Attribute) else "[")
        return start_of(node)

    def parameters(self, node: ast.arguments) -> ast.arguments:
        node.defaults = [self.expression(default) for default in node.defaults]
        node.kw_defaults = [default and self.expression(default) for default in node.kw_defaults]
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        position = start_of(node)
        generators = self.generators(node.generators, node.elt, position)
        return placed(ast.ListComp(self.expression(node.elt), generators), position)

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        position = start_of(node)
        generators = self.generators(node.generators, node.value, position)
        key = helper("hashable", start_of(node.key), self.expression(node.key))
        return placed(ast.DictComp(key, self.expression(node.value), generators), position)

    def generators(
        self, nodes: list[ast.comprehension], before: ast.expr, start: Position
    ) -> list[ast.comprehension]:
        """The `for` clauses behind an expression, in a comprehension that starts at `start`."""
        for node in nodes:
            position = self.after(before, "for")
            before = node.ifs[-1] if node.ifs else node.iter
            elements = helper("iterate", position, self.expression(node.iter))
            node.iter = self.unpacked(elements, node.target, start)
            node.ifs = [self.expression(condition) for condition in node.ifs]
        return nodes

    def unpacked(self, elements: ast.expr, target: ast.expr, start: Position) -> ast.expr:
        """The elements of an iterable, each for a target, which may be a pattern of names.

        An element that does not fit is an error at `start`, of the loop or the comprehension. Python reports
        it where the iterable is; before 3.13, for a comprehension, where that starts.
        """
        if isinstance(target, ast.Tuple | ast.List):
            return helper("unpack_each", start, elements, constant(pattern_of(target), start))
        return elements


def _repeated(keys: list[ast.expr]) -> ast.expr:
    """The first literal key that was there before; else the first key."""
    known: set[Any] = set()
    for key in keys:
        if isinstance(key, ast.Constant):
            if key.value in known:
                return key
            known.add(key.value)
    return keys[0]


def pattern_of(target: ast.expr) -> object:
    """The shape of a target: a tuple for one of several elements."""
    if isinstance(target, ast.Tuple | ast.List):
        return tuple(pattern_of(element) for element in target.elts)
    return None


def _entry_node(body: list[ast.stmt], universal: frozenset[str]) -> ast.expr | None:
    """The first expression of a function whose place is reported; None if there is none.

    Names of the universe cannot fail, so they have no place.
    """
    for statement in body:
        for node in _evaluated(statement):
            if not (isinstance(node, ast.Name) and node.id in universal):
                return node
    return None


def _evaluated(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions with a place that a statement evaluates first, in order."""
    if isinstance(statement, ast.If | ast.While):
        yield from _in_order(statement.test)
    elif isinstance(statement, ast.For):
        yield from _in_order(statement.iter)
    elif isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return) and statement.value:
        yield from _in_order(statement.value)


def _in_order(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        children: list[ast.AST] = [node.test]
    elif isinstance(node, ast.BoolOp):
        children = [node.values[0]]
    elif isinstance(node, ast.Dict):
        children = [part for pair in zip(node.keys, node.values, strict=True) for part in pair if part]
    elif isinstance(node, ast.ListComp | ast.DictComp):
        children = [node.generators[0].iter]
    elif isinstance(node, ast.Lambda):
        children = []
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        value = child.value if isinstance(child, ast.keyword) else child
        if isinstance(value, ast.expr):
            yield from _in_order(value)
    if isinstance(node, _POSITIONED):
        yield node
