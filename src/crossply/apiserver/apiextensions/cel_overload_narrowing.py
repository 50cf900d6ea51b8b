"""Narrows the overloads of an operator where the type checker knows too little.

`sum`, `min` and `max` are declared to return anything, because the evaluator cannot express more. The type of
their result follows from the list, and with it that `+` adds numbers and does not concatenate strings.
"""

from __future__ import annotations

from crossply.schema.cel_ast import Checked, Node

_OF_ELEMENTS = frozenset({"sum", "min", "max"})
_ARITHMETIC = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_"})
_ADDING = {
    "int": "add_int64",
    "uint": "add_uint64",
    "double": "add_double",
    "string": "add_string",
    "bytes": "add_bytes",
    "duration": "add_duration_duration",
}


def possible_overloads(checked: Checked, node: Node) -> tuple[str, ...]:
    """The overloads that a call may resolve to."""
    named = checked.overloads.get(node.id, ())
    if node.name != "_+_" or len(named) < 2:
        return named
    operand_kind = _ADDING.get(known_kind(checked, node))
    return (operand_kind,) if operand_kind in named else named


def known_kind(checked: Checked, node: Node) -> str:
    """The kind of an expression's value; `dyn` if it is unknown."""
    declared = checked.type_of(node).kind
    if declared != "dyn" or node.kind != "call":
        return declared
    if node.name in _OF_ELEMENTS and node.target is not None:
        target_type = checked.type_of(node.target)
        return (
            target_type.parameters[0].kind
            if target_type.kind == "list" and target_type.parameters
            else declared
        )
    if node.name in _ARITHMETIC:
        kinds = (known_kind(checked, operand) for operand in node.children)
        return next((kind for kind in kinds if kind != "dyn"), declared)
    return declared
