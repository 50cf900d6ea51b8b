"""The tree as data: `{object, error?, children?}` nested, or `{items: […]}` for a list."""

from __future__ import annotations

from typing import Any

from crossply.resource_tree.node import Node, Trace
from crossply.values import Object


def as_json(trace: Trace) -> str:
    """Write JSON as Go's encoder does: objects with sorted keys, the fields of structs in their order."""
    from crossply.cli.validate.output import as_json_text

    return as_json_text(_whole(trace))


def as_yaml(trace: Trace) -> str:
    """Write YAML; Crossplane adds an empty line."""
    from crossply.values.yaml import dump

    return f"{dump(_whole(trace))}\n"


def _whole(trace: Trace) -> Object:
    if trace.is_list:
        return {"items": [_tree(root) for root in trace.roots]}
    return _tree(trace.roots[0])


def _tree(node: Node) -> Object:
    tree: Object = {"object": _sorted(node.object)}
    if node.problem:
        tree["error"] = node.problem.shown
    if node.children:
        tree["children"] = [_tree(child) for child in node.children]
    return tree


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value
