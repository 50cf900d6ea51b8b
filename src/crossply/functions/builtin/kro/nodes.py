"""A resource of a graph: its template, and the expressions in it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from crossply.functions.builtin.kro.expressions import Expression, GraphError, conditions
from crossply.functions.builtin.kro.resource_checks import check_combination, check_object
from crossply.functions.builtin.kro.template_fields import Field, typed_fields, untyped_fields
from crossply.values import Object
from crossply.values.goquote import quote

SCHEMA = "schema"
"""The variable of the composite resource."""

ITEM_VARIABLE = "each"
"""The variable of one item of a collection, in its `readyWhen`."""

SchemaSource = Callable[[str, str], Object]
"""The OpenAPI schema of an API version and a kind; raises GraphError where there is none."""


class NodeKind(Enum):
    RESOURCE = "resource"
    COLLECTION = "collection"
    EXTERNAL = "external"
    EXTERNAL_COLLECTION = "external collection"

    @property
    def is_list(self) -> bool:
        return self in (NodeKind.COLLECTION, NodeKind.EXTERNAL_COLLECTION)

    @property
    def is_external(self) -> bool:
        return self in (NodeKind.EXTERNAL, NodeKind.EXTERNAL_COLLECTION)


class Dimension(NamedTuple):
    """An entry of `forEach`: a variable, and the list whose items it takes."""

    name: str
    expression: Expression


class Node:
    """One resource, or one collection of resources."""

    def __init__(self, resource: Object, kind: NodeKind, template: Object, schema: Object) -> None:
        self.id: str = resource["id"]
        self.kind = kind
        self.template = template
        self.schema = schema
        self.fields: list[Field] = []
        self.ready_when: list[Expression] = []
        self.include_when: list[Expression] = []
        self.dimensions: list[Dimension] = []
        self.dependencies: list[str] = []
        self.iterated: set[str] = set()
        """The texts of expressions that use a variable of `forEach`."""

    @property
    def variable_schema(self) -> Object:
        """The schema of the variable by which expressions refer to this node."""
        return {"type": "array", "items": self.schema} if self.kind.is_list else self.schema


def build_node(resource: Object, schemas: SchemaSource) -> Node:
    """Read a resource of the input; raises GraphError."""
    check_combination(resource)
    name = resource["id"]
    template = resource["externalRef"] if "externalRef" in resource else resource["template"]
    try:
        check_object(template)
    except GraphError as error:
        raise GraphError(f"resource {name} is not a valid Kubernetes object: {error}") from None
    try:
        schema = schemas(template["apiVersion"], template["kind"])
    except GraphError as error:
        raise GraphError(f"failed to get schema for resource {name}: {error}") from None
    node = Node(resource, _kind(resource), template, schema)
    node.fields = _fields(node)
    node.ready_when = _conditions(resource, "readyWhen")
    node.include_when = _conditions(resource, "includeWhen")
    node.dimensions = _dimensions(resource)
    return node


def _kind(resource: Object) -> NodeKind:
    if "externalRef" in resource:
        has_selector = "selector" in resource["externalRef"]["metadata"]
        return NodeKind.EXTERNAL_COLLECTION if has_selector else NodeKind.EXTERNAL
    return NodeKind.COLLECTION if resource.get("forEach") else NodeKind.RESOURCE


def _fields(node: Node) -> list[Field]:
    try:
        if node.kind.is_external:
            return untyped_fields(node.template)[0]
        if (node.template["apiVersion"], node.template["kind"]) == (
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
        ):
            return _definition_fields(node)
        return typed_fields(node.template, node.schema)
    except GraphError as error:
        purpose = "parse external ref" if node.kind.is_external else "extract CEL expressions from schema for"
        raise GraphError(f"failed to {purpose} resource {node.id}: {error}") from None


def _definition_fields(node: Node) -> list[Field]:
    """Expressions in a CRD; schemas have too much in them that looks like expressions."""
    fields = untyped_fields(node.template)[0]
    for field in fields:
        if not field.path.startswith("metadata."):
            raise GraphError(
                "CEL expressions in CRDs are only supported for metadata fields, found in path "
                f"{quote(field.path)}, resource {node.id}"
            )
    return fields


def _conditions(resource: Object, field: str) -> list[Expression]:
    try:
        return conditions(resource.get(field) or [])
    except GraphError as error:
        raise GraphError(f"failed to parse {field} expressions: {error}") from None


def _dimensions(resource: Object) -> list[Dimension]:
    dimensions = []
    for name, text in (entry for dimension in resource.get("forEach") or () for entry in dimension.items()):
        try:
            dimensions.append(Dimension(name, conditions([text])[0]))
        except GraphError as error:
            raise GraphError(
                "failed to parse forEach dimensions: invalid forEach expression for dimension "
                f"{quote(name)}: {error}"
            ) from None
    return dimensions
