"""What the expressions of a graph refer to: known resources, variables of `forEach`, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.functions.builtin.kro.cel.parser import parse
from crossply.functions.builtin.kro.cel.syntax_tree import ExpressionError
from crossply.functions.builtin.kro.dependencies import Inspection, check_acyclic, inspect, ordered
from crossply.functions.builtin.kro.expressions import Expression, GraphError
from crossply.functions.builtin.kro.nodes import ITEM_VARIABLE, SCHEMA, Dimension, Node
from crossply.values.goquote import quote

_IDENTITY = ("metadata.name", "metadata.namespace")


class References:
    """The references of one graph. Expressions are parsed here."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self._known = frozenset((*nodes, SCHEMA, ITEM_VARIABLE))

    def inspect(self, expression: Expression) -> Inspection:
        if expression.tree is None:
            try:
                expression.tree = parse(expression.text)
            except ExpressionError as error:
                raise GraphError(f"parse error: {error}") from None
        return inspect(expression.tree.root, self._known)

    def restricted(self, expression: Expression, allowed: list[str]) -> Inspection:
        """Inspect an expression outside of templates, which may only use some variables."""
        inspection = self.inspect(expression)
        for name in inspection.known:
            if name not in allowed:
                raise GraphError(f"references unknown identifiers: [{name}]")
        if inspection.unknown:
            raise GraphError(f"references unknown identifiers: [{' '.join(inspection.unknown)}]")
        _check_functions(inspection)
        if inspection.uses_omit:
            raise GraphError("omit() can only be used in resource template expressions")
        return inspection

    def order(self, nodes: dict[str, Node]) -> list[str]:
        """The names of nodes in the order of their dependencies, which are set; raises GraphError."""
        dependencies: dict[str, list[str]] = {name: [] for name in nodes}
        for name, node in nodes.items():
            needed = self._dependencies(node)
            if ITEM_VARIABLE in needed:
                raise GraphError(f"node {ITEM_VARIABLE} does not exist")
            if name in needed:
                raise GraphError("self references are not allowed")
            node.dependencies = dependencies[name] = needed
            check_acyclic(dependencies)
        return ordered(dependencies)

    def check_names(self, nodes: Iterable[Node]) -> None:
        """A resource must have a name: it cannot be left out."""
        for node in nodes:
            for field in node.fields:
                if field.path == "metadata.name" and self.inspect(field.expression).uses_omit:
                    raise GraphError(
                        f"resource {quote(node.id)}: omit() cannot be used at path {quote(field.path)} — the "
                        "field is required and must resolve to a concrete value"
                    )

    def _dependencies(self, node: Node) -> list[str]:
        iterators = [dimension.name for dimension in node.dimensions]
        needed, in_identity = self._of_template(node, iterators)
        missing = [name for name in iterators if name not in in_identity]
        if missing:
            raise GraphError(
                f"node {quote(node.id)}: all forEach dimensions must be used to produce a unique resource "
                f"identity, missing: [{' '.join(missing)}]"
            )
        for dimension in node.dimensions:
            needed += self._of_dimension(node, dimension, iterators)
        try:
            for condition in node.include_when:
                needed += self._of(condition, [])[0]
        except GraphError as error:
            raise GraphError(f"failed to extract dependencies from includeWhen: {error}") from None
        return list(dict.fromkeys(needed))

    def _of_template(self, node: Node, iterators: list[str]) -> tuple[list[str], list[str]]:
        """What a template depends on, and which iterators are part of the resource's identity."""
        needed: list[str] = []
        in_identity: list[str] = []
        for field in node.fields:
            try:
                names, used = self._of(field.expression, iterators)
            except GraphError as error:
                raise GraphError(f"failed to extract dependencies: {error}") from None
            needed += names
            if used:
                node.iterated.add(field.expression.text)
            if field.path in _IDENTITY:
                in_identity += used
        return needed, in_identity

    def _of_dimension(self, node: Node, dimension: Dimension, iterators: list[str]) -> list[str]:
        name = quote(dimension.name)
        try:
            needed, used = self._of(dimension.expression, iterators)
        except GraphError as error:
            raise GraphError(
                f"failed to extract dependencies from forEach iterator {name}: {error}"
            ) from None
        if used:
            raise GraphError(
                f"node {quote(node.id)}: forEach iterator {name} cannot reference other iterators "
                f"[{' '.join(used)}] - forEach iterators are independent (cartesian product)"
            )
        return needed

    def _of(self, expression: Expression, iterators: list[str]) -> tuple[list[str], list[str]]:
        """The resources and the iterators that an expression uses."""
        try:
            inspection = self.inspect(expression)
        except GraphError as error:
            raise GraphError(f"failed to inspect expression: {error}") from None
        for name in inspection.unknown:
            if name not in iterators:
                raise GraphError(f"references unknown identifiers: [{name}]")
        _check_functions(inspection)
        expression.references = [*inspection.known, *inspection.unknown]
        return [name for name in inspection.known if name != SCHEMA], list(inspection.unknown)


def _check_functions(inspection: Inspection) -> None:
    if inspection.unknown_functions:
        shown = " ".join(f"{{{name}}}" for name in inspection.unknown_functions)
        raise GraphError(f"uses unknown functions: [{shown}]")
