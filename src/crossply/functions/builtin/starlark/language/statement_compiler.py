"""Statements, and the script as a whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from crossply.functions.builtin.starlark.language.expression_compiler import (
    BINARY,
    PREFIX,
    ExpressionCompiler,
    Position,
    constant,
    helper,
    name,
    pattern_of,
    placed,
    start_of,
)
from crossply.functions.builtin.starlark.language.parser import Source
from crossply.functions.builtin.starlark.language.resolver import (
    STAR,
    load_names,
    load_statement,
    module_name,
)

_IN_PLACE = {"add": "add_in_place", "bit_or": "bit_or_in_place"}


class StatementCompiler(ExpressionCompiler, ast.NodeTransformer):
    """Turns the statements of Starlark into those of Python."""

    def __init__(self, source: Source, universal: frozenset[str]) -> None:
        super().__init__(source, universal)
        self._temporaries = 0

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        call = load_statement(node)
        if call is not None:
            return _load(start_of(node), call)
        return [_statement(self.expression(node.value))]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        maker = self.function_maker(node.name, node.body, start_of(node))
        node.args = self.parameters(node.args)
        node.body = self.block(node.body)
        node.decorator_list = [maker]
        return node

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block."""
        compiled: list[ast.stmt] = []
        for statement in body:
            result = self.visit(statement)
            compiled.extend(result if isinstance(result, list) else [result])
        return compiled

    def visit_If(self, node: ast.If) -> ast.stmt:
        node.test = self.expression(node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        node.test = self.expression(node.test)
        node.body = self.block(node.body)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        position = start_of(node)
        if _has_only_names(node.target):
            elements = helper("iterate", position, self.expression(node.iter))
            node.iter = self.unpacked(elements, node.target, position)
            node.body = self.block(node.body)
            return node
        target, node.target = node.target, name(self._temporary(), position, ast.Store())
        node.iter = helper("iterate", position, self.expression(node.iter))
        item = name(node.target.id, position)  # type: ignore[attr-defined]
        node.body = [*self._assign(target, item, position), *self.block(node.body)]
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        if node.value is not None:
            node.value = self.expression(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        target = node.targets[0]
        position = self.after(target, "=")
        return self._assign(target, self.expression(node.value), position)

    def _assign(self, target: ast.expr, value: ast.expr, position: Position) -> list[ast.stmt]:
        """Assign a compiled value to a target."""
        if isinstance(target, ast.Name):
            return [_assignment(target, value)]
        if isinstance(target, ast.Subscript):
            bracket = self.after(target.value, "[")
            parts = self.expression(target.value), self.expression(target.slice)
            return [_statement(helper("set_index", bracket, *parts, value))]
        if isinstance(target, ast.Attribute):
            dot = self.after(target.value, ".")
            parts = self.expression(target.value), constant(target.attr, dot)
            return [_statement(helper("set_attribute", dot, *parts, value))]
        unpacked = helper("unpack", position, value, constant(pattern_of(target), position))
        if _has_only_names(target):
            return [_assignment(target, unpacked)]
        temporary = self._temporary()
        statements = [_assignment(name(temporary, position, ast.Store()), unpacked)]
        for path, leaf in _leaves(target):
            part = name(temporary, position)
            for index in path:
                part = placed(ast.Subscript(part, constant(index, position), ast.Load()), position)
            statements += self._assign(leaf, part, position)
        return statements

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        symbol, function = BINARY[type(node.op)]
        target, position = node.target, self.after(node.target, f"{symbol}=")
        function = _IN_PLACE.get(function, function)
        operand = self.expression(node.value)
        if isinstance(target, ast.Name):
            return _assignment(target, helper(function, position, name(target.id, start_of(target)), operand))
        operation = name(PREFIX + function, position)
        value = self.expression(target.value)
        if isinstance(target, ast.Attribute):
            attribute = constant(target.attr, position)
            return _statement(helper("update_attribute", position, value, attribute, operation, operand))
        return _statement(
            helper("update_index", position, value, self.expression(target.slice), operation, operand)
        )

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"{PREFIX}{self._temporaries}"


def _load(position: Position, call: ast.Call) -> list[ast.stmt]:
    """A load statement: names, and structs of all that a module exports."""
    module, names = constant(module_name(call), position), load_names(call)
    imported = [(here, there) for here, there, _ in names if there != STAR]
    targets: list[ast.expr] = [name(here, position, ast.Store()) for here, _ in imported]
    values = helper("load", position, module, constant(tuple(there for _, there in imported), position))
    statements = [_assignment(placed(ast.Tuple(targets, ast.Store()), position), values)]
    for here in (here for here, there, _ in names if there == STAR):
        target = name(here, position, ast.Store())
        statements.append(_assignment(target, helper("load_all", position, module)))
    return statements


def _statement(value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Expr(value), value)


def _assignment(target: ast.expr, value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Assign([target], value), target)


def _has_only_names(target: ast.expr) -> bool:
    return all(isinstance(leaf, ast.Name) for _, leaf in _leaves(target))


def _leaves(target: ast.expr, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], ast.expr]]:
    """The targets in a pattern, and where their values are."""
    if not isinstance(target, ast.Tuple | ast.List):
        yield path, target
        return
    for index, element in enumerate(target.elts):
        yield from _leaves(element, (*path, index))
