"""Where a function begins to compute: the place of a call whose arguments do not fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_POSITIONED = (ast.Attribute, ast.BinOp, ast.Call, ast.Compare, ast.Name, ast.Subscript, ast.UnaryOp)


def entry_node(body: list[ast.stmt], universal: frozenset[str]) -> ast.expr | None:
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
