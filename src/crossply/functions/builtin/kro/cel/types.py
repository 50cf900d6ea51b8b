"""The types of expressions, and when one type takes the place of another."""

from __future__ import annotations

from typing import NamedTuple


class Type(NamedTuple):
    """A type. `name` is that of an object, of an abstract type or of a type parameter."""

    kind: str
    parameters: tuple[Type, ...] = ()
    name: str = ""

    def __str__(self) -> str:
        """The type as messages about whole expressions show it."""
        name = _FULL_NAMES.get(self.kind) or self.name or self.kind
        return f"{name}({', '.join(map(str, self.parameters))})" if self.parameters else name

    def shown(self) -> str:
        """The type as the issues of the checker show it."""
        name = _SHORT_NAMES.get(self.kind) or self.name or self.kind
        return f"{name}({', '.join(part.shown() for part in self.parameters)})" if self.parameters else name

    def accepts(self, other: Type) -> bool:
        """Whether a value of another type is one of this type, without unification."""
        if self.kind == "dyn" or self == other:
            return True
        if (self.kind, self.name, len(self.parameters)) != (other.kind, other.name, len(other.parameters)):
            return False
        return all(mine.accepts(its) for mine, its in zip(self.parameters, other.parameters, strict=True))


_FULL_NAMES = {
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "null": "null_type",
    "error": "!error!",
}
_SHORT_NAMES = {"error": "!error!"}

BOOL, BYTES, DOUBLE, INT, STRING, UINT = map(Type, ("bool", "bytes", "double", "int", "string", "uint"))
NULL, DYN, ERROR, TYPE = map(Type, ("null", "dyn", "error", "type"))
TIMESTAMP, DURATION = Type("timestamp"), Type("duration")

NULLABLE = frozenset(("abstract", "struct", "duration", "timestamp"))
"""Kinds of types that null can take the place of."""


def list_of(element: Type) -> Type:
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    return Type("abstract", (value,), "optional_type")


def struct_of(name: str) -> Type:
    return Type("struct", (), name)


def type_of(instance: Type) -> Type:
    return Type("type", (instance,))


def parameter(name: str) -> Type:
    return Type("parameter", (), name)


def unwrapped(optional: Type) -> tuple[Type, bool]:
    """The type inside of an optional type, and whether it was one."""
    if optional.name == "optional_type":
        return optional.parameters[0], True
    return optional, False
