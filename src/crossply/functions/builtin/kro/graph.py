"""A resource graph: its resources checked against their schemas, and in the order of their dependencies.

It is built once for a graph and the schemas of its kinds, and evaluated for each composite
(`graph_evaluation`).
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.functions.builtin.kro.cel.environment import Environment
from crossply.functions.builtin.kro.cel.evaluator import Evaluator
from crossply.functions.builtin.kro.compilation import Compilation
from crossply.functions.builtin.kro.expression_references import References
from crossply.functions.builtin.kro.expressions import GraphError
from crossply.functions.builtin.kro.nodes import Node, SchemaSource, build_node
from crossply.functions.builtin.kro.resource_checks import check_ids
from crossply.functions.builtin.kro.template_fields import Field, untyped_fields
from crossply.values import Object
from crossply.values.goquote import quote


class Graph(NamedTuple):
    """Resources in the order in which they are evaluated, and the fields of the composite's status."""

    nodes: list[Node]
    status: list[Field]
    status_dependencies: list[str]
    composite_schema: Object
    evaluator: Evaluator


def build_graph(resources: list[Object], status: Object, schemas: SchemaSource, composite: Object) -> Graph:
    """Build a graph; raises GraphError. `composite` is the schema of the composite resource."""
    check_ids(resources)
    nodes = _nodes(resources, schemas)
    references = References(nodes)
    try:
        order = references.order(nodes)
    except GraphError as error:
        raise GraphError(f"failed to build dependency graph: {error}") from None
    references.check_names(nodes.values())
    visible = _without_status(composite)
    compilation = Compilation(references)
    environment = compilation.environment(nodes, visible)
    for name, node in nodes.items():
        try:
            compilation.compile_node(node, environment)
        except GraphError as error:
            raise GraphError(f"failed to validate resource {quote(name)}: {error}") from None
    try:
        fields = _status(status, list(nodes), compilation, references, environment)
    except GraphError as error:
        raise GraphError(f"failed to build instance node: {error}") from None
    needed = list(dict.fromkeys(name for field in fields for name in field.expression.references))
    return Graph([nodes[name] for name in order], fields, needed, visible, compilation.evaluator)


def _nodes(resources: list[Object], schemas: SchemaSource) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    for resource in resources:
        try:
            nodes[resource["id"]] = build_node(resource, schemas)
        except GraphError as error:
            raise GraphError(f"failed to build resource {quote(resource['id'])}: {error}") from None
    return nodes


def _without_status(schema: Object) -> Object:
    """What expressions see of the composite: its status is made of them."""
    properties = {name: part for name, part in (schema.get("properties") or {}).items() if name != "status"}
    return {**schema, "properties": properties}


def _status(
    status: Object,
    names: list[str],
    compilation: Compilation,
    references: References,
    environment: Environment,
) -> list[Field]:
    """The fields of the composite's status, all of which are expressions about resources."""
    try:
        fields, plain = untyped_fields(status)
    except GraphError as error:
        raise GraphError(f"failed to extract CEL expressions from status: {error}") from None
    if plain:
        raise GraphError(f"status fields without expressions are not supported: [{' '.join(plain)}]")
    for field in fields:
        try:
            inspection = references.restricted(field.expression, names)
        except GraphError as error:
            shown = quote(field.expression.shown)
            raise GraphError(f"status field {quote(field.path)} expression {shown}: {error}") from None
        field.expression.references = list(inspection.known)
    for field in fields:
        try:
            compilation.compile(field.expression, environment)
        except GraphError as error:
            shown = quote(field.expression.shown)
            raise GraphError(
                f"failed to compile status expression {shown} at path {quote(field.path)}: {error}"
            ) from None
    for field in fields:
        if not field.expression.references:
            raise GraphError(f"instance status field must refer to a resource: status.{field.path}")
    return fields
