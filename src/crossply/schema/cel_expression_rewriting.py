"""Rewrite expressions that the evaluator's type checker refuses and Kubernetes allows.

Functions: the evaluator does not allow an overload of a function that it declares itself, as for `[1,
2].indexOf(2)` and `string(ip("::1"))`. Our overloads have names of their own, and a call is rewritten where
the type checker says that the usual function does not fit.

Comparisons of numbers of different types, `size(self.items) < 2.5`: the evaluator compares them, but its type
checker refuses to, unless one of them has no known type. The right operand is wrapped in `dyn(…)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

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
    """Return an equivalent expression without the calls that an error of the checker names."""
    lines = expression.split("\n")
    edits = list(_own_names(lines, problem))
    for start, end in dynamic_operands(lines, problem):
        edits += [(start, start, " dyn("), (end, end, ")")]
    # From right to left, so that the places to the left stay right.
    for start, end, text in sorted(edits, reverse=True):
        expression = expression[:start] + text + expression[end:]
    return expression


def accepted(expression: str, compiled: Callable[[str], tuple[Compiled, str]]) -> tuple[str, Compiled, str]:
    """Compile an expression, rewriting it while that helps; return the expression, the result and the error.

    `compiled` returns a result and "", or anything and the error of the checker.
    """
    result, problem = compiled(expression)
    while problem and (next_expression := rewritten(expression, problem)) != expression:
        expression = next_expression
        result, problem = compiled(expression)
    return expression, result, problem


def _own_names(lines: list[str], problem: str) -> Iterator[tuple[int, int, str]]:
    """Where which of our names belongs."""
    for match in _MISFIT.finditer(problem):
        name, own = match[3], OWN_NAMES.get((match[3], match[4]))
        line, bracket = int(match[1]) - 1, int(match[2]) - 1
        start = bracket - len(name)
        if own and lines[line][start:bracket] == name:
            before = sum(len(text) + 1 for text in lines[:line])
            yield before + start, before + bracket, own


_NUMBERS_MISFIT = re.compile(
    r"ERROR: <input>:(\d+):(\d+): found no matching overload for '_(<|<=|>|>=)_' applied to "
    r"'\((?:int|uint|double), (?:int|uint|double)\)'"
)
TOKEN = re.compile(
    r"""
    (?P<blank>\s+|//[^\n]*)
    | (?P<text>[bB]?[rR][bB]?(?:\"{3}.*?\"{3}|'{3}.*?'{3}|\"[^\"]*\"|'[^']*')
        | [bB]?(?:\"{3}(?:\\.|.)*?\"{3}|'{3}(?:\\.|.)*?'{3}|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'))
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<other>\.\?)
    | (?P<end>&&|\|\||==|!=|<=|>=|[<>?:,]|in\b)
    | (?P<word>\w+|.)
    """,
    re.DOTALL | re.VERBOSE,
)
"""The tokens of an expression."""


def dynamic_operands(lines: list[str], problem: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the right operands that an error of the checker is about."""
    expression = "\n".join(lines)
    for match in _NUMBERS_MISFIT.finditer(problem):
        operator = sum(len(line) + 1 for line in lines[: int(match[1]) - 1]) + int(match[2]) - 1
        start = operator + len(match[3])
        yield start, _end_of_operand(expression, start)


def _end_of_operand(expression: str, start: int) -> int:
    """Where the right operand of a comparison ends: before what binds as weakly, or closes what is around."""
    depth, end = 0, start
    for token in TOKEN.finditer(expression, start):
        kind = token.lastgroup
        if not depth and kind in ("close", "end"):
            break
        depth += (kind == "open") - (kind == "close")
        if kind != "blank":
            end = token.end()
    return end
