"""The functions that expressions may call, with the types of their arguments and results."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from crossply.functions.builtin.kro.cel.signature_table import signature_lines
from crossply.functions.builtin.kro.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
    parameter,
    struct_of,
    type_of,
)

QUANTITY, URL = "kubernetes.Quantity", "kubernetes.URL"


class Overload(NamedTuple):
    """One way to call a function."""

    is_member: bool
    arguments: tuple[Type, ...]
    result: Type
    parameters: tuple[str, ...]


_SIMPLE = {
    "bool": BOOL,
    "bytes": BYTES,
    "double": DOUBLE,
    "int": INT,
    "string": STRING,
    "uint": UINT,
    "dyn": DYN,
    "timestamp": TIMESTAMP,
    "duration": DURATION,
    "quantity": struct_of(QUANTITY),
    "url": struct_of(URL),
}
_GROUPS = {
    "comparable": ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"),
    "summable": ("int", "uint", "double", "duration"),
}
_MAKERS: dict[str, Callable[..., Type]] = {
    "list": list_of,
    "map": map_of,
    "optional": optional_of,
    "type": type_of,
}


@cache
def functions() -> dict[str, list[Overload]]:
    """The overloads of each function."""
    declared: dict[str, list[Overload]] = {}
    for line in signature_lines():
        name, _, rest = line.partition(" ")
        for signature in _group_members(rest):
            declared.setdefault(name.removeprefix("."), []).append(_overload(signature, name.startswith(".")))
    return declared


def _group_members(signature: str) -> list[str]:
    for group, members in _GROUPS.items():
        if group in signature:
            return [signature.replace(group, member) for member in members]
    return [signature]


def _overload(signature: str, is_member: bool) -> Overload:
    tokens = re.findall(r"[A-Za-z]+|[()]", signature)
    tokens.reverse()
    tokens.pop()
    arguments = []
    while tokens[-1] != ")":
        arguments.append(_type(tokens))
    tokens.pop()
    names = tuple(sorted(set(re.findall(r"\b[A-Z]\b", signature))))
    return Overload(is_member, tuple(arguments), _type(tokens), names)


def _type(tokens: list[str]) -> Type:
    """The type that the last tokens describe, which are removed."""
    name = tokens.pop()
    if name in _SIMPLE:
        return _SIMPLE[name]
    if name not in _MAKERS:
        return parameter(name)
    tokens.pop()
    parts = []
    while tokens[-1] != ")":
        parts.append(_type(tokens))
    tokens.pop()
    return _MAKERS[name](*parts)
