"""Scripts that say `ready = True`.

An older protobuf took a boolean where an enum belongs, and the published function's own example does so. The
protobuf of today refuses it. Before a script is compiled, what it assigns to such a field is made a number.
"""

from __future__ import annotations

import ast
from typing import Any

NUMBER = "__number__"
"""What scripts call the function by which a boolean becomes a number."""

_ENUMS = ("ready", "severity", "status", "target")


def parsed(source: str, name: str) -> ast.Module:
    """A script with every assignment to an enum's field through `NUMBER`."""
    tree = ast.parse(source, name)
    _Assignments().visit(tree)
    return ast.fix_missing_locations(tree)


def number(value: Any) -> Any:
    """A boolean as a number; everything else as it is."""
    return int(value) if isinstance(value, bool) else value


class _Assignments(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Rewrite `a.ready = b` only: one target, one attribute."""
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Attribute) and target.attr in _ENUMS:
            called = ast.Call(ast.Name(NUMBER, ast.Load()), [node.value], [])
            return ast.copy_location(ast.Assign([target], ast.copy_location(called, node.value)), node)
        return node
