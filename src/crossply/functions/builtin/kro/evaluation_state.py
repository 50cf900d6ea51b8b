"""One evaluation of a resource graph for a composite resource and what is observed."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.kro.cel.data import to_cel
from crossply.functions.builtin.kro.expression_evaluation import evaluate, is_pending
from crossply.functions.builtin.kro.expressions import Expression, GraphError
from crossply.functions.builtin.kro.graph import Graph
from crossply.functions.builtin.kro.node_state import NodeState
from crossply.functions.builtin.kro.nodes import SCHEMA
from crossply.functions.builtin.kro.resolution import set_at
from crossply.values import Object


class Runtime:
    """The state of one evaluation."""

    def __init__(self, graph: Graph, composite: Object) -> None:
        self._graph = graph
        self._nodes = {node.id: NodeState(self, node) for node in graph.nodes}
        self._composite = {name: value for name, value in composite.items() if name != "status"}
        self._values: dict[str, Any] = {}
        graph.evaluator.reset()

    @property
    def nodes(self) -> list[NodeState]:
        return list(self._nodes.values())

    def node(self, name: str) -> NodeState:
        return self._nodes[name]

    def has(self, name: str) -> bool:
        return name in self._nodes

    def variables(self, names: list[str], dependencies: list[str]) -> dict[str, Any]:
        """The variables of an expression that are known: the composite, and what is observed.

        An expression that refers to nothing gets them all: a loop may hide that it does.
        """
        scope: dict[str, Any] = {}
        for name in names or [SCHEMA, *dependencies]:
            if name == SCHEMA:
                scope[name] = to_cel(self._composite, self._graph.composite_schema)
            elif name in dependencies:
                state = self._nodes[name]
                if state.observed is not None:
                    scope[name] = state.variable()
        return scope

    def cached(self, expression: Expression, scope: dict[str, Any]) -> Any:
        """The value of an expression that is the same wherever it is used."""
        if expression.text not in self._values:
            self._values[expression.text] = evaluate(expression, scope)
        return self._values[expression.text]

    def status(self) -> Object:
        """The status of the composite: the fields whose expressions have a value."""
        status: Object = {}
        for field in self._graph.status:
            scope = self.variables(field.expression.references, self._graph.status_dependencies)
            try:
                value = self.cached(field.expression, scope)
            except GraphError as error:
                if is_pending(error):
                    continue
                raise
            set_at(status, field.segments, value)
        return status
