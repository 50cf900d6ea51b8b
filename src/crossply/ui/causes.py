"""Why a resource is not ready, from what is in memory; the reasoning is that of `diagnosis`."""

from __future__ import annotations

from crossply.diagnosis.causes import find_cause
from crossply.diagnosis.model import Cause
from crossply.resource_tree.composite_tree import child_references
from crossply.resource_tree.node import NOT_FOUND, Node, Problem, Reference
from crossply.ui.cluster_view import ClusterView
from crossply.values import Object

MOST_NODES = 400
"""Of one tree; more would make the overview slow, and a cause is seldom behind them."""


def cause_in_memory(view: ClusterView, obj: Object) -> Cause | None:
    """The deepest cause among what is in memory; kinds that are not yet are read in the background."""
    return find_cause(_Loading(view).node(obj, ()))


class _Loading:
    def __init__(self, view: ClusterView) -> None:
        self._view = view
        self._left = MOST_NODES

    def node(self, obj: Object, above: tuple[Reference, ...]) -> Node:
        node = Node(obj)
        for reference in child_references(node, False):
            self._left -= 1
            if self._left < 0 or reference in above:
                break
            child = self._child(reference, (*above, node.reference))
            if child is not None:
                node.children.append(child)
        return node

    def _child(self, reference: Reference, above: tuple[Reference, ...]) -> Node | None:
        view = self._view.composed_if_ready(reference.api_version, reference.kind)
        if view is None or view.refused:
            return None
        namespace = reference.namespace if view.kind.namespaced else ""
        obj = view.object(namespace, reference.name)
        if obj is None:
            missing = Problem(NOT_FOUND, "it does not exist", {})
            return Node(reference.stub(), view.kind, missing)
        child = self.node(obj, above)
        child.kind = view.kind
        return child
