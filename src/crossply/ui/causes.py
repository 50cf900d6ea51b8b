"""Why a resource is not ready, from what is in memory; the reasoning is that of `diagnosis`."""

from __future__ import annotations

from crossply.compose.object_metadata import name_of, uid_of
from crossply.control.kinds import COMPOSITION, FUNCTION
from crossply.diagnosis.cause_details import refine
from crossply.diagnosis.evidence import Evidence
from crossply.diagnosis.model import Cause
from crossply.diagnosis.root_cause_search import Finding, deepest_first
from crossply.kinds.definition import Definition
from crossply.kube.core_kinds import EVENT
from crossply.kube.kind import Kind
from crossply.resource_tree.composite_tree import child_references
from crossply.resource_tree.node import NOT_FOUND, Node, Problem, Reference
from crossply.ui.cluster_view import ClusterView
from crossply.ui.kind_informer import KindView
from crossply.values import Object

MOST_NODES = 400
"""Of one tree; more would make the overview slow, and a cause is seldom behind them."""


class CausesInMemory:
    """Finds the deepest causes among what is in memory; kinds that are not yet are read in the background."""

    def __init__(self, view: ClusterView, definitions: list[Definition]) -> None:
        self._view = view
        self._definitions = {definition.name: definition for definition in definitions}
        self._events = view.if_ready(EVENT)
        self._compositions = _objects(view.if_ready(COMPOSITION))
        self._functions = {name_of(obj): obj for obj in _objects(view.if_ready(FUNCTION))}

    def of(self, kind: Kind, obj: Object) -> Cause | None:
        """The deepest cause, with details from events, Compositions and Functions."""
        findings = deepest_first(tree_in_memory(self._view, kind, obj))
        if not findings:
            return None
        first = findings[0]
        return refine(first.cause, first.node, first.parent, self._evidence(first))

    def _evidence(self, finding: Finding) -> Evidence:
        nodes = (finding.node, finding.parent)
        kinds = [node.kind.resource for node in nodes if node.kind is not None]
        return Evidence(
            events={uid: self._events_about(uid) for node in nodes if (uid := uid_of(node.object))},
            definition=next((self._definitions[name] for name in kinds if name in self._definitions), None)
            if self._compositions
            else None,
            compositions=self._compositions,
            functions=self._functions,
            has_whole_objects=False,
        )

    def _events_about(self, uid: str) -> list[Object]:
        if self._events is None:
            return []
        rows = sorted(self._events.rows_of_owner(uid), key=lambda row: -row.since)
        objects = (self._events.object(row.namespace, row.name) for row in rows)
        return [obj for obj in objects if obj is not None]


def tree_in_memory(view: ClusterView, kind: Kind, obj: Object) -> Node:
    """The tree below an object, as far as it is in memory."""
    root = _Loading(view).node(obj, ())
    root.kind = kind
    return root


def _objects(view: KindView | None) -> list[Object]:
    return [] if view is None else view.objects()


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
