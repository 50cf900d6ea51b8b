"""Comparisons of numbers of different types, `size(self.items) < 2.5`: Kubernetes allows them.

The evaluator compares such numbers too, but its type checker refuses to, unless one of them has no known
type. So the right operand is wrapped in `dyn(…)` where the checker complains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_MISFIT = re.compile(
    r"ERROR: <input>:(\d+):(\d+): found no matching overload for '_(<|<=|>|>=)_' applied to "
    r"'\((?:int|uint|double), (?:int|uint|double)\)'"
)
_TOKEN = re.compile(
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


def dynamic_operands(lines: list[str], problem: str) -> Iterator[tuple[int, int]]:
    """Where the right operands begin and end that a complaint of the checker is about."""
    expression = "\n".join(lines)
    for found in _MISFIT.finditer(problem):
        operator = sum(len(line) + 1 for line in lines[: int(found[1]) - 1]) + int(found[2]) - 1
        start = operator + len(found[3])
        yield start, _end_of_operand(expression, start)


def _end_of_operand(expression: str, start: int) -> int:
    """Where the right operand of a comparison ends: before what binds as weakly, or closes what is around."""
    depth, end = 0, start
    for token in _TOKEN.finditer(expression, start):
        kind = token.lastgroup
        if not depth and kind in ("close", "end"):
            break
        depth += (kind == "open") - (kind == "close")
        if kind != "blank":
            end = token.end()
    return end
