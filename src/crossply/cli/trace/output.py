"""Writes a resource tree in the requested format.

Tables on a terminal have an age column, and below them why something is not ready. With `-o wide` the reasons
are also written where the output is no terminal, but to stderr: stdout is exactly what Crossplane writes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crossply.cli.framework.command import Invocation
from crossply.cli.trace.causes import explain
from crossply.resource_tree.node import Node, Trace
from crossply.values import Object

if TYPE_CHECKING:
    from crossply.kube.client import Client
    from crossply.resource_tree.tree_loader import Loading

_TABLES = ("default", "wide")


class Output:
    """The output of one call."""

    def __init__(self, invocation: Invocation) -> None:
        self._form: str = invocation["output"]
        self._stdout = invocation.stdout
        self._stderr = invocation.stderr
        self._environ = invocation.environ
        self._style = invocation.style

    @property
    def explains(self) -> bool:
        """Whether it also says why something is not ready."""
        return self._form == "wide" or (self._style.decorated and self._form in _TABLES)

    def write(self, trace: Trace) -> None:
        """Write once."""
        self._stdout.write(self._picture(trace))
        self._stderr.write(self._aside(trace))

    async def watch(self, client: Client, loading: Loading, first: Node) -> None:
        """Write the first tree, and again whenever something in it changes."""
        from crossply.cli.framework.screen import Screen
        from crossply.cli.trace.watch import watch

        screen, aside = Screen(self._stdout, self._environ), Screen(self._stderr, self._environ)

        def paint(root: Node) -> None:
            trace = Trace([root], is_list=False)
            screen.paint(self._picture(trace))
            aside.paint(self._aside(trace))

        await watch(client, first, loading.reload, paint)
        self._stderr.write(f"crossply: {first.label} was deleted\n")

    def _picture(self, trace: Trace) -> str:
        people = self._style.decorated and self._form in _TABLES
        why = explain(trace, self._style) if people else ""
        return self._formed(trace) + (f"\n{why}" if why else "")

    def _aside(self, trace: Trace) -> str:
        return explain(trace) if self._form == "wide" and not self._style.decorated else ""

    def _formed(self, trace: Trace) -> str:
        if self._form in _TABLES:
            from crossply.cli.trace.table import Table

            return Table(self._form == "wide", self._style, datetime.now(UTC)).write(trace)
        if self._form in ("dot", "mermaid"):
            from crossply.cli.trace.graph import dot, mermaid

            return dot(trace) if self._form == "dot" else mermaid(trace)
        return as_json(trace) if self._form == "json" else as_yaml(trace)


def as_json(trace: Trace) -> str:
    """Write JSON as Go's encoder does: objects with sorted keys, the fields of structs in their order."""
    from crossply.cli.validate.output import as_json_text

    return as_json_text(_tree_object(trace))


def as_yaml(trace: Trace) -> str:
    """Write YAML; Crossplane adds an empty line."""
    from crossply.values.yaml import dump

    return f"{dump(_tree_object(trace))}\n"


def _tree_object(trace: Trace) -> Object:
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
