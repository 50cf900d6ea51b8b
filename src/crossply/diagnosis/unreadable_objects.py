"""Objects that the user may not read are no cause: they are left out of a tree, and listed."""

from __future__ import annotations

from crossply.resource_tree.node import Node

_FORBIDDEN = 403


def is_forbidden(node: Node) -> bool:
    """Whether the API server did not let the caller read a resource."""
    status = node.problem.shown.get("ErrStatus") if node.problem else None
    return isinstance(status, dict) and status.get("code") == _FORBIDDEN


def leave_out_forbidden(root: Node) -> list[str]:
    """Take what could not be read for lack of rights out of a tree; returns the names of it.

    A resource without a controller stays: that is known from its kind.
    """
    left_out = []
    for child in root.children:
        if is_forbidden(child):
            left_out.append(child.label)
            if child.origin:
                child.problem = None
        left_out += leave_out_forbidden(child)
    root.children = [child for child in root.children if not is_forbidden(child)]
    return left_out
