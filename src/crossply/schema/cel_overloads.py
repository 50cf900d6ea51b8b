"""What the evaluator's type checker refuses and Kubernetes allows, written otherwise.

Functions whose names the evaluator keeps for itself: `[1, 2].indexOf(2)`, `string(ip("::1"))`.

The evaluator lets nobody add an overload to a function that it or one of its extensions declares. Ours have
names of their own, and an expression that calls them by the usual name is rewritten where the type checker
says that the usual function does not fit. For comparisons of numbers see `cel_comparisons`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from crossply.schema.cel_comparisons import dynamic_operands

Compiled = TypeVar("Compiled")

OWN_NAMES = {
    ("indexOf", "list"): "indexOfItem",
    ("lastIndexOf", "list"): "lastIndexOfItem",
    ("reverse", "list"): "reverseItems",
    ("string", "map"): "stringOfAddress",
}
_MISFIT = re.compile(
    r"ERROR: <input>:(\d+):(\d+): found no matching overload for '(\w+)' applied to '\((list|map)\("
)


def rewritten(expression: str, problem: str) -> str:
    """Return an expression that says the same where a complaint of the checker asks for that."""
    lines = expression.split("\n")
    edits = list(_own_names(lines, problem))
    for start, end in dynamic_operands(lines, problem):
        edits += [(start, start, " dyn("), (end, end, ")")]
    # From right to left, so that the places to the left stay right.
    for start, end, text in sorted(edits, reverse=True):
        expression = expression[:start] + text + expression[end:]
    return expression


def accepted(expression: str, compiled: Callable[[str], tuple[Compiled, str]]) -> tuple[str, Compiled, str]:
    """Compile an expression, rewritten as often as that helps: what was compiled, the result, what is wrong.

    `compiled` returns a result and "", or anything and the complaint of the checker.
    """
    result, problem = compiled(expression)
    while problem and (again := rewritten(expression, problem)) != expression:
        expression = again
        result, problem = compiled(expression)
    return expression, result, problem


def _own_names(lines: list[str], problem: str) -> Iterator[tuple[int, int, str]]:
    """Where which of our names belongs."""
    for found in _MISFIT.finditer(problem):
        name, own = found[3], OWN_NAMES.get((found[3], found[4]))
        line, bracket = int(found[1]) - 1, int(found[2]) - 1
        start = bracket - len(name)
        if own and lines[line][start:bracket] == name:
            before = sum(len(text) + 1 for text in lines[:line])
            yield before + start, before + bracket, own
