"""One resource of a graph in an evaluation: what is observed of it, and what is desired.

A resource waits until all that its expressions refer to is there. Waiting is no failure: the resource is
left out of the desired state, and those that depend on it as well.

A resource is ready if it is there and its `readyWhen` holds. Conditions see what is observed without its
schema, so a time is a text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from crossply.functions.builtin.kro.cel.data import DataList, to_cel, untyped
from crossply.functions.builtin.kro.expression_evaluation import (
    DataPending,
    NotReady,
    evaluate,
    is_pending,
    to_boolean,
)
from crossply.functions.builtin.kro.expressions import Expression, GraphError
from crossply.functions.builtin.kro.nodes import ITEM_VARIABLE, SCHEMA, Node, NodeKind
from crossply.functions.builtin.kro.resolution import combinations, identity, resolved
from crossply.functions.builtin.kro.template_fields import Field
from crossply.values import Object
from crossply.values.goquote import quote

if TYPE_CHECKING:
    from crossply.functions.builtin.kro.graph_evaluation import Runtime

COLLECTION_INDEX = "kro.run/collection-index"
"""The label of the resources of a collection: their place in it."""
_Cached = Callable[[Expression, dict[str, Any]], Any]
"""Evaluates an expression once for all that use it."""

_WAITING = "waiting for readiness"


def _labels(resource: Object) -> dict[str, str]:
    labels = resource["metadata"].get("labels")
    if not isinstance(labels, dict) or not all(isinstance(value, str) for value in labels.values()):
        return {}
    return labels


class NodeState:
    """A resource of the graph, what is observed of it, and what is desired."""

    def __init__(self, runtime: Runtime, node: Node) -> None:
        self._runtime = runtime
        self.node = node
        self.observed: list[Object] | None = None
        self._desired: list[Object] | None = None
        self._ignored: bool | None = None

    def variable(self) -> Any:
        """The observed state as the value of the node's variable."""
        assert self.observed is not None
        if self.node.kind.is_list:
            return DataList(self.observed, {"items": self.node.schema})
        return to_cel(self.observed[0], self.node.schema)

    def is_ignored(self) -> bool:
        """Whether a condition excludes this resource, or one that it depends on. Raises DataPending."""
        if self._ignored is None:
            self._ignored = self._compute_ignored()
        return self._ignored

    def _compute_ignored(self) -> bool:
        dependencies = [self._runtime.node(name) for name in self.node.dependencies]
        if any(dependency.is_ignored() for dependency in dependencies):
            return True
        references = {name for condition in self.node.include_when for name in condition.references}
        for name in sorted(references - {SCHEMA}):
            try:
                self._runtime.node(name).check_observed()
            except NotReady as error:
                raise DataPending(f"includeWhen dependency {quote(name)} not ready: {error}") from None
        return any(not self._is_met(condition) for condition in self.node.include_when)

    def _is_met(self, condition: Expression) -> bool:
        scope = self._scope(condition)
        try:
            return to_boolean(condition, self._runtime.cached(condition, scope))
        except GraphError as error:
            problem = f"includeWhen {quote(condition.shown)}: {error}"
            uses_resources = any(name != SCHEMA for name in condition.references)
            # What the composite does not have now is a mistake; what a resource does not have may come.
            if uses_resources and is_pending(error):
                raise DataPending(problem) from None
            raise GraphError(problem) from None

    def desired(self) -> list[Object]:
        """The desired resources; raises DataPending while something that they need is not there."""
        if self._desired is None:
            self._check_dependencies()
            if self.node.kind is NodeKind.COLLECTION:
                self._desired = self._collection()
            else:
                self._desired = [self._single(self.node.fields)]
        return self._desired

    def identity(self) -> Object:
        """The template with only its name and namespace resolved; raises DataPending."""
        fields = [
            field for field in self.node.fields if field.path in ("metadata.name", "metadata.namespace")
        ]
        return self._single(fields)

    def check_ready(self) -> None:
        """Raise NotReady unless the resource is ready, or excluded."""
        try:
            if self.is_ignored():
                return
        except GraphError as error:
            raise GraphError(f"is ignore check failed: {error}") from None
        self.check_observed()

    def check_observed(self) -> None:
        """Raise NotReady unless what is observed of the resource is ready."""
        _check_readiness(self.node, self.observed or [], self._desired, self._runtime.cached)

    def _check_dependencies(self) -> None:
        for name in self.node.dependencies:
            dependency = self._runtime.node(name)
            owner = f"node {quote(self.node.id)}"
            try:
                dependency.check_ready()
            except (NotReady, DataPending) as error:
                raise DataPending(f"{owner}: dependent node {quote(name)} not ready: {error}") from None
            except GraphError as error:
                raise GraphError(
                    f"{owner}: failed to check readiness of dependent node {quote(name)}: {error}"
                ) from None

    def _scope(self, expression: Expression) -> dict[str, Any]:
        return self._runtime.variables(expression.references, self.node.dependencies)

    def _values(self, fields: list[Field]) -> dict[str, Any]:
        """The values of the expressions that are the same for all items; raises DataPending."""
        values: dict[str, Any] = {}
        for field in fields:
            expression = field.expression
            if expression.text in self.node.iterated:
                continue
            try:
                values[expression.text] = self._runtime.cached(expression, self._scope(expression))
            except GraphError as error:
                if is_pending(error):
                    raise DataPending(f"failed to evaluate expression: {error}") from None
                raise
        return values

    def _single(self, fields: list[Field]) -> Object:
        try:
            values = self._values(fields)
        except GraphError as error:
            raise GraphError(f"node {quote(self.node.id)}: {error}") from None
        return resolved(self.node.template, fields, values)

    def _collection(self) -> list[Object]:
        try:
            shared = self._values(self.node.fields)
        except GraphError as error:
            raise GraphError(f"node {quote(self.node.id)} base eval: {error}") from None
        iterated = [field for field in self.node.fields if field.expression.text in self.node.iterated]
        items: list[Object] = []
        for index, bindings in enumerate(combinations(self._dimensions())):
            values = dict(shared)
            for field in iterated:
                values[field.expression.text] = self._item_value(field.expression, bindings)
            item = resolved(self.node.template, self.node.fields, values)
            item["metadata"]["labels"] = {**_labels(item), COLLECTION_INDEX: str(index)}
            items.append(item)
        self._check_identities(items)
        return items

    def _dimensions(self) -> list[tuple[str, list[Any]]]:
        """The items of each list of `forEach`; nothing at all when one of them is empty."""
        dimensions = []
        for dimension in self.node.dimensions:
            expression = dimension.expression
            shown = quote(expression.shown)
            try:
                value = evaluate(expression, self._scope(expression))
                if value is None:
                    raise GraphError(f"expression {shown} returned null, expected list")
                if not isinstance(value, list):
                    raise GraphError(f"expression {shown} did not return a list")
            except GraphError as error:
                if is_pending(error):
                    raise DataPending(str(error)) from None
                raise GraphError(f"forEach {quote(dimension.name)}: {error}") from None
            if not value:
                return []
            dimensions.append((dimension.name, value))
        return dimensions

    def _item_value(self, expression: Expression, bindings: dict[str, Any]) -> Any:
        scope = self._scope(expression)
        scope.update((name, untyped(value)) for name, value in bindings.items())
        try:
            return evaluate(expression, scope)
        except GraphError as error:
            if is_pending(error):
                raise DataPending(str(error)) from None
            raise GraphError(f"collection iteration eval {quote(expression.text)}: {error}") from None

    def _check_identities(self, items: list[Object]) -> None:
        identities: set[str] = set()
        for item in items:
            key = identity(item)
            if key in identities:
                raise GraphError(f"node {quote(self.node.id)} identity collision: duplicate identity: {key}")
            identities.add(key)


def _check_readiness(
    node: Node, observed: list[Object], desired: list[Object] | None, cached: _Cached
) -> None:
    """Raise NotReady unless what is observed of a resource is ready; GraphError where a condition fails."""
    if node.kind.is_list:
        _check_collection(node, observed, desired)
        return
    if not observed:
        raise NotReady(f"node {quote(node.id)}: no observed state: {_WAITING}")
    scope = {node.id: untyped(observed[0])}
    for condition in node.ready_when:
        _check_condition(node, condition, scope, cached)


def _check_condition(node: Node, condition: Expression, scope: dict[str, Any], cached: _Cached) -> None:
    shown = quote(condition.shown)
    failed = f"node {quote(node.id)}: failed to evaluate readyWhen expression: {shown}"
    try:
        is_ready = to_boolean(condition, cached(condition, scope))
    except GraphError as error:
        if is_pending(error):
            raise NotReady(f"{failed} ({_WAITING})") from None
        raise GraphError(f"{failed} ({error})") from None
    if not is_ready:
        raise NotReady(f"readyWhen condition evaluated to false: {shown} ({_WAITING})")


def _check_collection(node: Node, observed: list[Object], desired: list[Object] | None) -> None:
    owner = f"node {quote(node.id)}"
    if node.kind is NodeKind.COLLECTION:
        if desired is None:
            raise NotReady(f"{owner}: collection not computed ({_WAITING})")
        if not desired:
            return
        if len(observed) < len(desired):
            counts = f"observed {len(observed)} but desired {len(desired)}"
            raise NotReady(f"{owner}: collection not ready: {counts} ({_WAITING})")
    for index, item in enumerate(observed):
        scope = {ITEM_VARIABLE: untyped(item)}
        for condition in node.ready_when:
            _check_item(node, condition, scope, index)


def _check_item(node: Node, condition: Expression, scope: dict[str, Any], index: int) -> None:
    shown = quote(condition.shown)
    failed = f"node {quote(node.id)}: failed to evaluate readyWhen {shown} (item {index})"
    try:
        value = evaluate(condition, scope)
    except GraphError as error:
        if is_pending(error):
            raise NotReady(f"{failed} ({_WAITING})") from None
        raise GraphError(f"{failed}: {error}") from None
    if not isinstance(value, bool):
        raise GraphError(f"readyWhen {shown} did not return bool")
    if not value:
        raise NotReady(f"readyWhen condition evaluated to false: {shown} ({_WAITING})")
