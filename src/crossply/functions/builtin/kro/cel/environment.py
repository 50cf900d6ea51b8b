"""What an expression can name: variables with their types, and types themselves."""

from __future__ import annotations

from collections.abc import Mapping

from crossply.functions.builtin.kro.cel.declared_types import TypeProvider
from crossply.functions.builtin.kro.cel.syntax_tree import Identifier, Node, Select
from crossply.functions.builtin.kro.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
)

TYPE_NAMES = {
    "bool": BOOL,
    "bytes": BYTES,
    "double": DOUBLE,
    "int": INT,
    "list": list_of(DYN),
    "map": map_of(DYN, DYN),
    "null_type": NULL,
    "string": STRING,
    "type": TYPE,
    "uint": UINT,
    "google.protobuf.Duration": DURATION,
    "google.protobuf.Timestamp": TIMESTAMP,
    "optional_type": optional_of(DYN),
}
"""Names of types, which expressions use as values: `type(x) == string`."""


class Environment:
    """The variables that expressions may use, and the types of their fields."""

    def __init__(self, provider: TypeProvider, variables: Mapping[str, Type]) -> None:
        self.provider = provider
        self.variables = dict(variables)

    def extended(self, variables: Mapping[str, Type]) -> Environment:
        return Environment(self.provider, {**self.variables, **variables})


def qualified_name(node: Node) -> str | None:
    """The dotted name that a node is, if it is one."""
    if isinstance(node, Identifier):
        return node.name
    if isinstance(node, Select) and not node.is_test:
        before = qualified_name(node.operand)
        return f"{before}.{node.field}" if before is not None else None
    return None
