"""Check formats that are written in an expression against the types of their arguments."""

from __future__ import annotations

from collections.abc import Callable

from crossply.functions.builtin.kro.cel.syntax_tree import Call, Constant, ListLiteral, MapLiteral, Node
from crossply.functions.builtin.kro.cel.text_format import Clause, clauses_of
from crossply.functions.builtin.kro.cel.types import Type
from crossply.functions.builtin.kro.cel.values import EvaluationError

_NUMBERS = frozenset(("int", "uint", "double"))
_TAKES = {
    "d": _NUMBERS,
    "f": _NUMBERS,
    "e": _NUMBERS,
    "b": frozenset(("bool", "int", "uint")),
    "o": frozenset(("int", "uint")),
    "x": frozenset(("int", "uint", "string", "bytes")),
    "s": _NUMBERS | {"list", "map", "bool", "string", "timestamp", "bytes", "duration", "type", "null"},
}
_NAMES = {
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "null": "null_type",
}

TypeOf = Callable[[Node], Type]


def is_written_format(call: Call) -> bool:
    """Whether a call formats a text that is written there, with arguments that are written there."""
    return (
        call.function == "format"
        and isinstance(call.target, Constant)
        and isinstance(call.target.value, str)
        and len(call.arguments) == 1
        and isinstance(call.arguments[0], ListLiteral)
    )


def format_issues(call: Call, type_of: TypeOf) -> list[tuple[int, str]]:
    """The issue of such a call, if it has one."""
    assert isinstance(call.target, Constant)
    assert isinstance(call.arguments[0], ListLiteral)
    arguments = call.arguments[0].elements
    used = 0
    try:
        for part in clauses_of(call.target.value):
            if isinstance(part, str):
                continue
            if used >= len(arguments):
                return [(call.id, f"index {used} out of range")]
            misfit = _misfit(part, arguments[used], type_of)
            if misfit is not None:
                kind = type_of(misfit)
                name = _NAMES.get(kind.kind) or kind.name or kind.kind
                return [(misfit.id, part.misfit(name))]
            used += 1
    except EvaluationError as error:
        return [(call.id, str(error))]
    if len(arguments) > used:
        problem = f"too many arguments supplied to string.format (expected {used}, got {len(arguments)})"
        return [(call.id, problem)]
    return []


def _misfit(clause: Clause, argument: Node, type_of: TypeOf) -> Node | None:
    """The part of an argument that a clause does not take."""
    kind = type_of(argument).kind
    if kind != "dyn" and kind not in _TAKES[clause.verb.lower()]:
        return argument
    if clause.verb != "s":
        return None
    parts: list[Node] = []
    if isinstance(argument, ListLiteral):
        parts = list(argument.elements)
    elif isinstance(argument, MapLiteral):
        parts = [
            part
            for entry in argument.entries
            for part in (entry.key, entry.value)
            if not isinstance(part, str)
        ]
    return next((misfit for part in parts if (misfit := _misfit(clause, part, type_of)) is not None), None)
