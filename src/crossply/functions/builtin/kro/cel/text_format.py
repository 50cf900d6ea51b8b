"""`"%s has %d items".format([name, count])`: evaluated, and checked where the format is written out.

The checker compares a written format with the types of its arguments.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from crossply.functions.builtin.kro.cel.conversions import seconds_text
from crossply.functions.builtin.kro.cel.syntax_tree import Call, Constant, ListLiteral, MapLiteral, Node
from crossply.functions.builtin.kro.cel.times import time_text
from crossply.functions.builtin.kro.cel.types import Type
from crossply.functions.builtin.kro.cel.values import (
    Duration,
    EvaluationError,
    Timestamp,
    TypeValue,
    entries_of,
    is_list,
    is_map,
    is_number,
    items_of,
    type_name,
)
from crossply.values.gonumbers import format_float

_CLAUSE = re.compile(r"%(?:(%)|(?:\.(\d*))?(.)?)", re.DOTALL | re.ASCII)
_MOST_DIGITS = 100
_NUMBERS = "ints, uints, and doubles"
_MISFITS = {
    "d": f"decimal clause can only be used on {_NUMBERS}",
    "f": f"fixed-point clause can only be used on {_NUMBERS}",
    "e": f"scientific clause can only be used on {_NUMBERS}",
    "b": "only ints, uints, and bools can be formatted as binary",
    "o": "octal clause can only be used on ints and uints",
    "x": "only ints, uints, bytes, and strings can be formatted as hex",
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
    "durations, and timestamps",
}
_NAMES = {
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "null": "null_type",
}

_TypeOf = Callable[[Node], Type]


class Clause(NamedTuple):
    """A part of a format that an argument takes the place of."""

    verb: str
    precision: int

    def misfit(self, type_name: str) -> str:
        """Why an argument of a type cannot take the place."""
        return f"error during formatting: {_MISFITS[self.verb.lower()]}, was given {type_name}"


def clauses_of(text: str) -> Iterator[str | Clause]:
    """The parts of a format: texts, and clauses; raises EvaluationError at a clause that is none."""
    at = 0
    for match in _CLAUSE.finditer(text):
        yield text[at : match.start()]
        at = match.end()
        yield "%" if match[1] else _clause(match[2], match[3])
    yield text[at:]


def formatted(text: str, arguments: list[Any]) -> str:
    """A text with its clauses replaced by the arguments in their order."""
    index = 0
    parts = []
    for part in clauses_of(text):
        if isinstance(part, str):
            parts.append(part)
            continue
        if index == len(arguments):
            raise EvaluationError(f"index {index} out of range")
        try:
            parts.append(_shown(part, arguments[index]))
        except TypeError:
            raise EvaluationError(part.misfit(type_name(arguments[index]))) from None
        index += 1
    return "".join(parts)


def _clause(digits: str | None, verb: str | None) -> Clause:
    failed = "could not parse formatting clause"
    in_precision = f"{failed}: error while parsing precision"
    if verb is None:
        if digits is None:
            raise EvaluationError("unexpected end of string")
        raise EvaluationError(f"{in_precision}: could not find end of precision specifier")
    if digits == "":
        raise EvaluationError(
            f"{in_precision}: error while converting precision to integer: "
            'strconv.Atoi: parsing "": invalid syntax'
        )
    precision = 6 if digits is None else int(digits[:4])
    if precision > _MOST_DIGITS:
        raise EvaluationError(
            f"{in_precision}: precision {digits} exceeds maximum allowed precision {_MOST_DIGITS}"
        )
    if verb not in _MISFITS and verb != "X":
        raise EvaluationError(f'{failed}: unrecognized formatting clause "{verb}"')
    return Clause(verb, precision)


def _shown(clause: Clause, argument: Any) -> str:
    """The argument of a clause as text; raises TypeError where the clause does not take it."""
    verb = clause.verb
    if verb == "s":
        return plain_text(argument)
    if verb in "xX":
        return _hexadecimal(argument, verb)
    if verb in "bo":
        if isinstance(argument, bool) and verb == "b":
            return str(int(argument))
        if not isinstance(argument, int) or isinstance(argument, bool):
            raise TypeError
        return format(int(argument), verb)
    if not is_number(argument):
        raise TypeError
    if verb == "d" or (isinstance(argument, float) and not math.isfinite(argument)):
        return _number(argument)
    return format_float(float(argument), verb, clause.precision)


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(int(value))
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return format_float(value, "f", -1)


def _hexadecimal(argument: Any, verb: str) -> str:
    if isinstance(argument, str | bytes):
        data = argument.encode("utf-8", "surrogatepass") if isinstance(argument, str) else argument
        return data.hex().upper() if verb == "X" else data.hex()
    if not isinstance(argument, int) or isinstance(argument, bool):
        raise TypeError
    return format(int(argument), verb)


def plain_text(value: Any) -> str:
    """A value as `%s` shows it; raises TypeError for values that have no text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if is_number(value):
        return _number(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Duration):
        return seconds_text(value)
    if isinstance(value, Timestamp):
        return time_text(Timestamp(value.nanoseconds))
    if isinstance(value, TypeValue):
        return value.name
    if is_list(value):
        return f"[{', '.join(plain_text(item) for item in items_of(value))}]"
    if is_map(value):
        entries = sorted((plain_text(key), plain_text(item)) for key, item in entries_of(value))
        return "{" + ", ".join(f"{key}: {item}" for key, item in entries) + "}"
    raise TypeError


_NUMERIC = frozenset(("int", "uint", "double"))
_TAKES = {
    "d": _NUMERIC,
    "f": _NUMERIC,
    "e": _NUMERIC,
    "b": frozenset(("bool", "int", "uint")),
    "o": frozenset(("int", "uint")),
    "x": frozenset(("int", "uint", "string", "bytes")),
    "s": _NUMERIC | {"list", "map", "bool", "string", "timestamp", "bytes", "duration", "type", "null"},
}


def is_written_format(call: Call) -> bool:
    """Whether a call formats a text that is written there, with arguments that are written there."""
    return (
        call.function == "format"
        and isinstance(call.target, Constant)
        and isinstance(call.target.value, str)
        and len(call.arguments) == 1
        and isinstance(call.arguments[0], ListLiteral)
    )


def format_issues(call: Call, type_of: _TypeOf) -> list[tuple[int, str]]:
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


def _misfit(clause: Clause, argument: Node, type_of: _TypeOf) -> Node | None:
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
