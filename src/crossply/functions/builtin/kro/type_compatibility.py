"""Whether the value of an expression fits into the field that it is written to.

Objects are compared by their fields, not by name: what an expression gives must not have more than what is
expected.
"""

from __future__ import annotations

from crossply.functions.builtin.kro.cel.declared_types import Declared, TypeProvider
from crossply.functions.builtin.kro.cel.types import Type
from crossply.values.goquote import quote


def incompatibility(actual: Type, expected: Type, provider: TypeProvider) -> str | None:
    """Why a type does not fit another one; None where it does."""
    if "dyn" in (expected.kind, actual.kind):
        return None
    if actual.name == "optional_type":
        return incompatibility(actual.parameters[0], expected, provider)
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
    problem = incompatibility(actual.parameters[0], expected.parameters[0], provider)
    return None if problem is None else f"list element type incompatible: {problem}"


def _maps(actual: Type, expected: Type, provider: TypeProvider) -> str | None:
    if len(actual.parameters) < 2:
        return f"map parameter count mismatch: got {len(actual.parameters)}, expected 2"
    for index, part in enumerate(("key", "value")):
        problem = incompatibility(actual.parameters[index], expected.parameters[index], provider)
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
        problem = incompatibility(field.type, expected[name].type, provider)
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
        problem = incompatibility(value, field.type, provider)
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
        problem = incompatibility(field.type, value, provider)
        if problem is not None:
            return f"struct field {quote(name)} incompatible with map value type: {problem}"
    return None
