"""Evaluate a graph for a request: desired resources, the composite's status, and what is to be read.

`Runtime` is the state of an evaluation: the nodes, and the variables that are known so far.
"""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.kro.cel.data import to_cel
from crossply.functions.builtin.kro.expression_evaluation import DataPending, NotReady, evaluate, is_pending
from crossply.functions.builtin.kro.expressions import Expression, GraphError
from crossply.functions.builtin.kro.graph import Graph
from crossply.functions.builtin.kro.node_state import COLLECTION_INDEX, NodeState
from crossply.functions.builtin.kro.nodes import SCHEMA, NodeKind
from crossply.functions.builtin.kro.resolution import set_at
from crossply.values import Object
from crossply.values.goquote import quote


def evaluate_graph(graph: Graph, request: Object) -> Object:
    """The answer to a request; raises GraphError."""
    composite = request["composite"]
    runtime = Runtime(graph, composite)
    for name, items in request["external"].items():
        if items and runtime.has(name):
            runtime.node(name).observed = items
    _observe(runtime, request["observed"])
    selectors = _selectors(runtime, _metadata(composite).get("namespace") or "")
    resources: Object = {}
    for state in runtime.nodes:
        if not state.node.kind.is_external:
            resources |= _desired(state)
    try:
        status = runtime.status()
    except GraphError as error:
        raise GraphError(f"cannot get desired instance status: {error}") from None
    return {"selectors": selectors, "resources": resources, "status": status}


def _metadata(obj: Object) -> Object:
    metadata = obj.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _observe(runtime: Runtime, observed: dict[str, Object]) -> None:
    """Set the observed objects of each node; items of a collection come in their order."""
    collections: dict[str, list[tuple[int, str, Object]]] = {}
    for name, obj in observed.items():
        if runtime.has(name):
            runtime.node(name).observed = [obj]
            continue
        index = (_metadata(obj).get("labels") or {}).get(COLLECTION_INDEX)
        owner = _collection_of(runtime, name) if index is not None else None
        if owner is not None:
            place = int(index) if isinstance(index, str) and index.isdecimal() else 0
            collections.setdefault(owner, []).append((place, name, obj))
    for owner, items in collections.items():
        runtime.node(owner).observed = [obj for _, _, obj in sorted(items, key=lambda item: item[:2])]


def _collection_of(runtime: Runtime, name: str) -> str | None:
    """The collection that a resource belongs to: the longest beginning of its name that is one."""
    prefix = name.rpartition("-")[0]
    while prefix:
        if runtime.has(prefix) and runtime.node(prefix).node.kind.is_list:
            return prefix
        prefix = prefix.rpartition("-")[0]
    return None


def _selectors(runtime: Runtime, namespace: str) -> dict[str, Object]:
    """What to read for external references; one that is not known yet is left out."""
    selectors: dict[str, Object] = {}
    for state in runtime.nodes:
        name = quote(state.node.id)
        try:
            if state.node.kind is NodeKind.EXTERNAL:
                selectors[state.node.id] = _name_selector(state.identity(), namespace)
            elif state.node.kind is NodeKind.EXTERNAL_COLLECTION:
                selectors[state.node.id] = _label_selector(state.desired()[0])
        except DataPending:
            continue
        except GraphError as error:
            purpose = f"cannot resolve identity for external ref {name}"
            if state.node.kind is NodeKind.EXTERNAL_COLLECTION:
                purpose = f"cannot build selector for external collection {name}"
            raise GraphError(f"cannot build external resource selectors: {purpose}: {error}") from None
    return selectors


def _name_selector(template: Object, namespace: str) -> Object:
    metadata = template["metadata"]
    return {
        "apiVersion": template["apiVersion"],
        "kind": template["kind"],
        "name": _text(metadata.get("name")),
        "namespace": _text(metadata.get("namespace")) or namespace,
    }


def _label_selector(template: Object) -> Object:
    selector: Any = template["metadata"].get("selector")
    if not isinstance(selector, dict):
        raise GraphError("cannot extract selector from resolved template: .metadata.selector is not a map")
    labels = selector.get("matchLabels") or {}
    for value in labels.values():
        if not isinstance(value, str):
            raise GraphError("cannot convert selector: a label is not a string")
    return {
        "apiVersion": template["apiVersion"],
        "kind": template["kind"],
        "labels": labels,
        "namespace": _text(template["metadata"].get("namespace")) or None,
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _desired(state: NodeState) -> dict[str, list[Any]]:
    """The desired resources of a node by name; none of one that is excluded, or waits."""
    node = state.node
    try:
        if state.is_ignored():
            return {}
    except (DataPending, GraphError):
        # The condition has no value: the published function leaves the resource out as well.
        return {}
    try:
        desired = state.desired()
    except DataPending:
        return {}
    except GraphError as error:
        raise GraphError(f"cannot get desired state for resource {quote(node.id)}: {error}") from None
    ready = _readiness(state)
    is_collection = node.kind is NodeKind.COLLECTION
    return {
        f"{node.id}-{_text(item['metadata'].get('name'))}" if is_collection else node.id: [item, ready]
        for item in desired
    }


def _readiness(state: NodeState) -> bool | None:
    """Whether a resource is ready; None where it does not say, so that another function may."""
    if not state.node.ready_when:
        return None
    try:
        state.check_ready()
    except (NotReady, DataPending, GraphError):
        return False
    return True


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
