"""Find the type of an expression, and all that is wrong with it.

Types are inferred as cel-go does it: arguments are unified with the signatures of a function, and the results
of all that fit make the type of a call.
"""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.kro.cel.environment import TYPE_NAMES, Environment, qualified_name
from crossply.functions.builtin.kro.cel.overload_declarations import Overload, functions
from crossply.functions.builtin.kro.cel.syntax_tree import (
    Call,
    Comprehension,
    Constant,
    ExpressionError,
    Identifier,
    ListLiteral,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
    Tree,
)
from crossply.functions.builtin.kro.cel.text_format import format_issues, is_written_format
from crossply.functions.builtin.kro.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
    parameter,
    type_of,
    unwrapped,
)
from crossply.functions.builtin.kro.cel.unification import Substitutions
from crossply.functions.builtin.kro.cel.values import UInt

_CONSTANTS = {
    bool: BOOL,
    int: INT,
    UInt: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
}


def check(tree: Tree, environment: Environment) -> Type:
    """The type of an expression; raises ExpressionError."""
    checker = _Checker(environment)
    root_type = checker.check(tree.root)
    issues = checker.issues or checker.format_issues()
    if issues:
        raise ExpressionError(tree.source.report(issues))
    return checker.known.resolve(root_type, is_final=True)


class _Checker:
    def __init__(self, environment: Environment) -> None:
        self.known = Substitutions()
        self.issues: list[tuple[int, str]] = []
        self._provider = environment.provider
        self._variables = dict(environment.variables)
        self._types: dict[int, Type] = {}
        self._formats: list[Call] = []
        self._checks: dict[type, Any] = {
            Constant: lambda node: _CONSTANTS[type(node.value)],
            Identifier: self._identifier,
            Select: self._select,
            Call: self._call,
            ListLiteral: self._list,
            MapLiteral: self._map,
            StructLiteral: self._struct,
            Comprehension: self._comprehension,
        }

    def check(self, node: Node) -> Type:
        node_type: Type = self._checks[type(node)](node)
        self._types[node.id] = node_type
        return node_type

    def format_issues(self) -> list[tuple[int, str]]:
        """The issues of formats, which are looked for in expressions that are well typed."""

        def type_of(node: Node) -> Type:
            return self.known.resolve(self._types[node.id], is_final=True)

        return [issue for call in self._formats for issue in format_issues(call, type_of)]

    def _report(self, node: Node, message: str) -> None:
        self.issues.append((node.id, message))

    def _identifier(self, node: Identifier) -> Type:
        name = node.name.removeprefix(".")
        if name in self._variables:
            return self._variables[name]
        if name in TYPE_NAMES:
            return type_of(TYPE_NAMES[name])
        self._report(node, f"undeclared reference to '{node.name}' (in container '')")
        return ERROR

    def _select(self, node: Select) -> Type:
        name = qualified_name(node)
        if name in TYPE_NAMES:
            return type_of(TYPE_NAMES[name])
        field_type = self._field(node, node.operand, node.field, False)
        return BOOL if node.is_test else self.known.resolve(field_type)

    def _field(self, node: Node, operand: Node, field: str, is_optional: bool) -> Type:
        target, was_optional = unwrapped(self.known.resolve(self.check(operand)))
        result = DYN
        if target.kind == "map":
            result = target.parameters[1]
        elif target.kind == "struct":
            result = self._struct_field(node, target, field)
        elif target.kind == "parameter":
            self.known.unify([(DYN, target)])
        elif target.kind not in ("dyn", "error"):
            self._report(node, f"type '{target.shown()}' does not support field selection")
        return optional_of(result) if is_optional or was_optional else result

    def _struct_field(self, node: Node, struct: Type, field: str) -> Type:
        if self._provider.find(struct.name) is None:
            self._report(node, f"unexpected failed resolution of '{struct.name}'")
            return ERROR
        field_type = self._provider.field_type(struct.name, field)
        if field_type is None:
            self._report(node, f"undefined field '{field}'")
            return ERROR
        return field_type

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            field = node.arguments[1]
            assert isinstance(field, Constant)
            return self.known.resolve(self._field(node, node.arguments[0], field.value, True))
        if is_written_format(node):
            self._formats.append(node)
        arguments = [(argument, self.check(argument)) for argument in node.arguments]
        declared = functions()
        if node.target is not None:
            prefix = qualified_name(node.target)
            namespaced = f"{prefix}.{node.function}"
            if prefix is not None and namespaced in declared:
                return self._overload(node, namespaced, False, arguments)
            arguments = [(node.target, self.check(node.target)), *arguments]
        if node.function not in declared:
            self._report(node, f"undeclared reference to '{node.function}' (in container '')")
            return ERROR
        return self._overload(node, node.function, node.target is not None, arguments)

    def _overload(self, node: Call, name: str, is_member: bool, arguments: list[tuple[Node, Type]]) -> Type:
        if name in ("_&&_", "_||_"):
            return self._logical(arguments)
        result: Type | None = None
        for overload in functions()[name]:
            if overload.is_member != is_member or len(overload.arguments) != len(arguments):
                continue
            expected, gives = self._instantiated(overload)
            types = [argument_type for _, argument_type in arguments]
            if self.known.unify(list(zip(types, expected, strict=True))):
                result_type = self.known.resolve(gives)
                result = result_type if result is None or result == result_type else DYN
        if result is not None:
            return result
        shown = [self.known.resolve(argument_type, is_final=True).shown() for _, argument_type in arguments]
        signature = f"({', '.join(shown)})"
        if is_member:
            signature = f"{shown[0]}.({', '.join(shown[1:])})"
        self._report(node, f"found no matching overload for '{name}' applied to '{signature}'")
        return ERROR

    def _logical(self, arguments: list[tuple[Node, Type]]) -> Type:
        result = BOOL
        for argument, argument_type in arguments:
            if not self.known.unify([(argument_type, BOOL)]):
                self._mismatch(argument, BOOL, argument_type)
                result = ERROR
        return result

    def _instantiated(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        """The arguments and the result of an overload, with type parameters of their own."""
        if not overload.parameters:
            return overload.arguments, overload.result
        fresh = Substitutions()
        fresh.unify([(self.known.fresh(), parameter(name)) for name in overload.parameters])
        return tuple(fresh.resolve(part) for part in overload.arguments), fresh.resolve(overload.result)

    def _mismatch(self, node: Node, expected: Type, actual: Type) -> None:
        self._report(node, f"expected type '{expected.shown()}' but found '{actual.shown()}'")

    def _content(self, node: Node, is_optional: bool) -> Type:
        """The type of an element, which `?` takes out of an optional value."""
        node_type = self.check(node)
        if not is_optional:
            return node_type
        content, was_optional = unwrapped(node_type)
        if not was_optional and content.kind != "dyn":
            self._mismatch(node, optional_of(content), content)
        return content

    def _list(self, node: ListLiteral) -> Type:
        element: Type | None = None
        for index, item in enumerate(node.elements):
            element = self.known.join(element, self._content(item, index in node.optional))
        return list_of(self.known.fresh() if element is None else element)

    def _map(self, node: MapLiteral) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            assert not isinstance(entry.key, str)
            keys = self.known.join(keys, self.check(entry.key))
            values = self.known.join(values, self._content(entry.value, entry.is_optional))
        if keys is None or values is None:
            return map_of(self.known.fresh(), self.known.fresh())
        return map_of(keys, values)

    def _struct(self, node: StructLiteral) -> Type:
        # Objects of types are made from maps; no type of a schema can be named in an expression.
        self._report(node, f"undeclared reference to '{node.name}' (in container '')")
        return ERROR

    def _comprehension(self, node: Comprehension) -> Type:
        range_ = self.known.resolve(self.check(node.range))
        accumulator = self.check(node.initial)
        outer = self._variables
        self._variables = {**outer, node.accumulator: accumulator}
        first, second = self._loop_types(node, range_)
        inner = self._variables
        self._variables = {**inner, node.variable: first}
        if node.second_variable:
            self._variables[node.second_variable] = second
        self._assert(node.condition, BOOL)
        self._assert(node.step, accumulator)
        self._variables = inner
        result = self.known.resolve(self.check(node.result))
        self._variables = outer
        return result

    def _loop_types(self, node: Comprehension, range_: Type) -> tuple[Type, Type]:
        """The types of the variables of a loop: elements with their indexes, or keys and values."""
        if range_.kind == "list":
            element = range_.parameters[0]
            return (INT, element) if node.second_variable else (element, element)
        if range_.kind == "map":
            return range_.parameters[0], range_.parameters[1]
        if range_.kind in ("dyn", "error", "parameter"):
            self.known.unify([(DYN, range_)])
            return DYN, DYN
        self._report(
            node.range,
            f"expression of type '{range_.shown()}' cannot be range of a comprehension "
            "(must be list, map, or dynamic)",
        )
        return ERROR, ERROR

    def _assert(self, node: Node, expected: Type) -> None:
        actual = self.check(node)
        if not self.known.unify([(expected, actual)]):
            self._mismatch(node, expected, actual)
