"""Booleans that scripts assign to fields of enums.

Older versions of protobuf accept a boolean for an enum, and examples of the published functions set
`ready = True`. The current version refuses it, so assignments to fields of enums are rewritten.
"""

from __future__ import annotations

import ast
from typing import Any

TO_NUMBER = "__number__"
"""The name of `bool_to_number` in scripts."""

_ENUMS = ("ready", "severity", "status", "target")


def parse_script(source: str, name: str) -> ast.Module:
    """Parse a script and convert what it assigns to fields of enums with `TO_NUMBER`."""
    tree = ast.parse(source, name)
    _Assignments().visit(tree)
    return ast.fix_missing_locations(tree)


def bool_to_number(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


class _Assignments(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Rewrite `a.ready = b` only: one target, one attribute."""
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Attribute) and target.attr in _ENUMS:
            called = ast.Call(ast.Name(TO_NUMBER, ast.Load()), [node.value], [])
            return ast.copy_location(ast.Assign([target], ast.copy_location(called, node.value)), node)
        return node
