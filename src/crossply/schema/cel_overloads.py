"""Functions whose names the evaluator keeps for itself: `[1, 2].indexOf(2)`, `string(ip("::1"))`.

The evaluator lets nobody add an overload to a function that it or one of its extensions declares. Ours have
names of their own, and an expression that calls them by the usual name is rewritten where the type checker
says that the usual function does not fit.
"""

from __future__ import annotations

import re

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
    """Return an expression with our names where a complaint of the checker asks for them."""
    lines = expression.split("\n")
    # From right to left, so that the columns to the left stay right.
    for found in sorted(_MISFIT.finditer(problem), key=lambda each: -int(each[2])):
        name, own = found[3], OWN_NAMES.get((found[3], found[4]))
        line, bracket = int(found[1]) - 1, int(found[2]) - 1
        start = bracket - len(name)
        if own and lines[line][start:bracket] == name:
            lines[line] = lines[line][:start] + own + lines[line][bracket:]
    return "\n".join(lines)
