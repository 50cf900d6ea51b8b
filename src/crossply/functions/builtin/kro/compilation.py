"""Check the expressions of a graph by the types of schemas, and make functions of them.

The value of an expression must fit into the field that it is written to. Objects are compared by their
fields, not by name: what an expression gives must not have more than what is expected.
"""

from __future__ import annotations

from crossply.functions.builtin.kro.cel.checker import check
from crossply.functions.builtin.kro.cel.declared_types import PREFIX, Declared, TypeProvider, declare
from crossply.functions.builtin.kro.cel.environment import Environment
from crossply.functions.builtin.kro.cel.evaluator import Evaluator
from crossply.functions.builtin.kro.cel.syntax_tree import ExpressionError
from crossply.functions.builtin.kro.cel.types import BOOL, DYN, Type, list_of, optional_of
from crossply.functions.builtin.kro.expression_references import References
from crossply.functions.builtin.kro.expressions import Expression, GraphError
from crossply.functions.builtin.kro.nodes import ITEM_VARIABLE, SCHEMA, Node, NodeKind
from crossply.functions.builtin.kro.template_fields import Field, Segments
from crossply.values import Object
from crossply.values.goquote import quote


class Compilation:
    """Compiles the expressions of one graph."""

    def __init__(self, references: References) -> None:
        self.evaluator = Evaluator()
        self._references = references
        self._provider = TypeProvider()

    def environment(self, nodes: dict[str, Node], composite: Object) -> Environment:
        """The variables of all nodes and of the composite, with the types of their schemas."""
        schemas = {name: node.variable_schema for name, node in nodes.items()}
        variables: dict[str, Type] = {}
        for name, schema in {**schemas, SCHEMA: composite}.items():
            declared = self._provider.add(name, schema)
            if declared is not None:
                variables[name] = declared
        return Environment(self._provider, variables)

    def compile_node(self, node: Node, environment: Environment) -> None:
        iterators = self._compile_dimensions(node, environment)
        inner = environment.extended(iterators) if iterators else environment
        for field in node.fields:
            self._compile_field(node, field, inner)
        for condition in node.include_when:
            self._compile_condition(node, condition, environment, "includeWhen")
        self._compile_readiness(node, environment)

    def compile(self, expression: Expression, environment: Environment) -> Type:
        """The type of an expression, which can be evaluated then; raises GraphError."""
        self._references.inspect(expression)
        assert expression.tree is not None
        try:
            actual = check(expression.tree, environment)
        except ExpressionError as error:
            raise GraphError(str(error)) from None
        expression.evaluate = self.evaluator.compile(expression.tree.root)
        return actual

    def _compile_dimensions(self, node: Node, environment: Environment) -> dict[str, Type]:
        iterators: dict[str, Type] = {}
        for dimension in node.dimensions:
            owner = f"node {quote(node.id)}: forEach iterator {quote(dimension.name)}"
            if self._references.inspect(dimension.expression).uses_omit:
                raise GraphError(f"{owner}: omit() can only be used in resource template expressions")
            try:
                actual = self.compile(dimension.expression, environment)
            except GraphError as error:
                raise GraphError(f"{owner}: {error}") from None
            if len(actual.parameters) != 1 or not list_of(actual.parameters[0]).accepts(actual):
                shown = quote(str(actual))
                raise GraphError(f"{owner} must return a list, got {shown}: type {shown} is not a list type")
            iterators[dimension.name] = actual.parameters[0]
        return iterators

    def _compile_field(self, node: Node, field: Field, environment: Environment) -> None:
        expected = self._expected_type(node, field.segments)
        shown = quote(field.expression.shown)
        try:
            actual = self.compile(field.expression, environment)
        except GraphError as error:
            raise GraphError(
                f"failed to compile template expression {shown} at path {quote(field.path)}: {error}"
            ) from None
        if expected.accepts(actual):
            return
        problem = _incompatibility(actual, expected, self._provider)
        if problem is not None:
            raise GraphError(
                f"type mismatch in resource {quote(node.id)} at path {quote(field.path)}: expression {shown} "
                f"returns type {quote(str(actual))} but expected {quote(str(expected))}: {problem}"
            )

    def _expected_type(self, node: Node, segments: Segments) -> Type:
        """The type of a field of a template; dynamic where the schema says nothing."""
        name, schema = PREFIX + node.id, node.schema
        for segment in segments:
            step = _item_schema(schema) if isinstance(segment, int) else _field_schema(schema, segment)
            if step is None:
                return DYN
            name, schema = f"{name}.{'@idx' if isinstance(segment, int) else segment}", step
        declared = self._provider.find_named(name) or declare(schema, name, is_resource=False)
        return DYN if declared is None else declared.type

    def _compile_condition(
        self, node: Node, condition: Expression, environment: Environment, kind: str
    ) -> None:
        shown = quote(condition.shown)
        try:
            actual = self.compile(condition, environment)
        except GraphError as error:
            raise GraphError(
                f"failed to type-check {kind} expression {shown} in resource {quote(node.id)}: {error}"
            ) from None
        if not BOOL.accepts(actual) and not optional_of(BOOL).accepts(actual):
            raise GraphError(
                f"{kind} expression {shown} in resource {quote(node.id)} must return bool or "
                f"optional_type(bool), but returns {quote(str(actual))}"
            )

    def _compile_readiness(self, node: Node, environment: Environment) -> None:
        is_collection = node.kind is NodeKind.COLLECTION
        for condition in node.ready_when:
            try:
                self._references.restricted(condition, [ITEM_VARIABLE if is_collection else node.id])
            except GraphError as error:
                raise GraphError(f"resource {quote(node.id)} readyWhen: {error}") from None
        if is_collection and node.ready_when:
            environment = _item_environment(node, environment)
        for condition in node.ready_when:
            self._compile_condition(node, condition, environment, "readyWhen")


def _item_environment(node: Node, environment: Environment) -> Environment:
    """An environment with the variable of one item of a collection."""
    provider = TypeProvider()
    item_type = provider.add(ITEM_VARIABLE, node.schema)
    if item_type is None:
        raise GraphError(
            "failed to create CEL environment for readyWhen validation: failed to build DeclType for schema"
        )
    return Environment(provider, {**environment.variables, ITEM_VARIABLE: item_type})


def _item_schema(schema: Object) -> Object | None:
    items = schema.get("items")
    return items if isinstance(items, dict) else None


def _field_schema(schema: Object, name: str) -> Object | None:
    """The schema of a field: that of its name, of other fields, or of a field of items."""
    property_schema = (schema.get("properties") or {}).get(name)
    if isinstance(property_schema, dict):
        return property_schema
    others = schema.get("additionalProperties")
    if others is True or isinstance(others, dict):
        return {} if others is True else others
    items = _item_schema(schema)
    return None if items is None else _field_schema(items, name)


def _incompatibility(actual: Type, expected: Type, provider: TypeProvider) -> str | None:
    """Why a type does not fit another one; None where it does."""
    if "dyn" in (expected.kind, actual.kind):
        return None
    if actual.name == "optional_type":
        return _incompatibility(actual.parameters[0], expected, provider)
    if expected.kind == "struct" and actual.kind == "map":
        return _map_to_struct(actual, expected, provider)
    if expected.kind == "map" and actual.kind == "struct":
        return _struct_to_map(actual, expected, provider)
    if expected.kind == "list":
        return _lists(actual, expected, provider)
    if expected.kind == "map":
        return _maps(actual, expected, provider)
    if expected.kind == "struct":
        return _structs(actual, expected, provider)
    if actual.kind != expected.kind:
        return f"type kind mismatch: got {quote(str(actual))}, expected {quote(str(expected))}"
    return None


def _lists(actual: Type, expected: Type, provider: TypeProvider) -> str | None:
    if not actual.parameters:
        return f"list parameter count mismatch: got 0, expected {len(expected.parameters)}"
    problem = _incompatibility(actual.parameters[0], expected.parameters[0], provider)
    return None if problem is None else f"list element type incompatible: {problem}"


def _maps(actual: Type, expected: Type, provider: TypeProvider) -> str | None:
    if len(actual.parameters) < 2:
        return f"map parameter count mismatch: got {len(actual.parameters)}, expected 2"
    for index, part in enumerate(("key", "value")):
        problem = _incompatibility(actual.parameters[index], expected.parameters[index], provider)
        if problem is not None:
            return f"map {part} type incompatible: {problem}"
    return None


def _structs(actual: Type, expected: Type, provider: TypeProvider) -> str | None:
    expected_declared, actual_declared = provider.find(expected.name), provider.find(str(actual))
    if expected_declared is None or actual_declared is None:
        return None
    return _fields(actual_declared, expected_declared, provider)


def _fields(actual_declared: Declared, expected_declared: Declared, provider: TypeProvider) -> str | None:
    if expected_declared.preserves_unknown or not actual_declared.is_object:
        return None
    if not expected_declared.is_object:
        return "output has fields but expected type has none" if actual_declared.fields() else None
    expected = expected_declared.fields()
    for name, field in actual_declared.fields().items():
        if name not in expected:
            return f"field {quote(name)} exists in output but not in expected type"
        problem = _incompatibility(field.type, expected[name].type, provider)
        if problem is not None:
            return f"field {quote(name)} has incompatible type: {problem}"
    return None


def _map_to_struct(actual: Type, expected: Type, provider: TypeProvider) -> str | None:
    expected_declared = provider.find(expected.name)
    if expected_declared is None or not expected_declared.is_object:
        return None
    key, value = actual.parameters
    if key.kind != "string":
        return "map keys must be strings to assign to struct"
    for name, field in expected_declared.fields().items():
        problem = _incompatibility(value, field.type, provider)
        if problem is not None:
            return f"map value incompatible with struct field {quote(name)}: {problem}"
    return None


def _struct_to_map(actual: Type, expected: Type, provider: TypeProvider) -> str | None:
    actual_declared = provider.find(actual.name)
    if actual_declared is None or not actual_declared.is_object:
        return None
    key, value = expected.parameters
    if key.kind != "string":
        return "map key type must be string when assigning struct → map"
    for name, field in actual_declared.fields().items():
        problem = _incompatibility(field.type, value, provider)
        if problem is not None:
            return f"struct field {quote(name)} incompatible with map value type: {problem}"
    return None
