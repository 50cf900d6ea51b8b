"""Translate the evaluator's errors into Kubernetes' messages."""

from __future__ import annotations

import re
from collections.abc import Mapping

_ALLOWED = re.compile(
    r"found no matching overload for '_(?:<|<=|>|>=)_' applied to "
    r"'\((?:int|uint|double), (?:int|uint|double)\)'"
    r"|expression of type '\*error\*' cannot be"
)
_UNDECLARED = (
    r"(?P<line>ERROR: <input>:\d+:)(?P<column>\d+): undeclared reference to '(?P<name>[^']*\.[^']*)'"
    r"(?P<middle>.*)\n \| \.*\^$"
)
_NO_OVERLOAD = (
    "'no such overload': call arguments did not match a supported operator, function or macro signature "
    "for rule: {rule}"
)
_COST = (
    "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call "
    "cost exceeds limit for rule: {rule}"
)
OUT_OF_BUDGET = "Iteration budget exceeded"
"""The evaluator's message for an expression that takes too long."""

_EVALUATION = (
    (r'Key not found in map : "(.*)"', r"no such key: \1"),
    (r"Key not found in map : (.*)", r"no such key: \1"),
    (r"no_such_field : (.*)", r"no such key: \1"),
    (r"Index error: index=(-?\d+) size=\d+", r"index out of bounds: \1"),
    (r"divide by zero", "division by zero"),
    (r"modulus by zero", "modulus by zero"),
    (r"cannot convert (\w+) to (\w+)", r"type conversion error from '\1' to '\2'"),
    (r"invalid regular expression: (.*)", r"error parsing regexp: \1"),
)


def compile_issues(problem: str, shift: int = 0) -> list[str]:
    """Return the issues of an expression, each with the line it points at.

    `shift` is how many characters were put before the expression. Comparisons of an integer with a float
    are dropped, Kubernetes allows them; so are errors that only follow from another one.
    """
    text = re.sub(r"^[A-Z_]+: (?=ERROR: )", "", problem)
    text = re.sub(r" \[[A-Z_]+\]$", "", text)
    issues = [issue for issue in re.split(r"\n(?=ERROR: )", text) if not _ALLOWED.search(issue)]
    return [_in_go_words(_unshifted(issue, shift)) for issue in issues]


def _in_go_words(issue: str) -> str:
    issue = re.sub(_UNDECLARED, _at_first_name, issue, flags=re.DOTALL)
    issue = re.sub(r"(undefined field '[^']*') not found in struct '[^']*'", r"\1", issue)
    issue = re.sub(
        r"expression of type ('[^']*') cannot be the operand of a select operation",
        r"type \1 does not support field selection",
        issue,
    )
    return issue.replace("null_type", "null")


def _at_first_name(match: re.Match[str]) -> str:
    # Of an undeclared `a.b` Kubernetes blames `a`, the evaluator the whole, at its last dot.
    first = match["name"].partition(".")[0]
    column = int(match["column"]) - len(match["name"].rpartition(".")[0])
    pointer = "." * (column - 1) + "^"
    return f"{match['line']}{column}: undeclared reference to '{first}'{match['middle']}\n | {pointer}"


def _unshifted(issue: str, shift: int) -> str:
    if not shift:
        return issue
    head, _, rest = issue.partition("\n")
    source, _, pointer = rest.partition("\n")
    moved = re.sub(r"<input>:1:(\d+):", lambda match: f"<input>:1:{int(match[1]) - shift}:", head)
    return f"{moved}\n | {source[3 + shift : -1]}\n | {pointer[3 + shift :]}"


BUDGET_SPENT = "validation failed due to running out of cost budget, no further validation rules will be run"
"""Kubernetes' message when all expressions together take too long."""


def is_cost(problem: str) -> bool:
    """Return whether an evaluation was stopped because it took too long, or too much memory."""
    return OUT_OF_BUDGET in problem


def evaluation_failure(problem: str, rule: str, wrong: Mapping[str, str]) -> str:
    """Return why a rule could not be evaluated; `wrong` says which fields were left out, and why."""
    text = re.sub(r"^[A-Z_]+: ", "", problem)
    text = re.sub(r" \[[A-Z_]+\]$", "", text)
    if is_cost(text):
        return _COST.format(rule=rule)
    if text.startswith("No matching overloads found"):
        return _NO_OVERLOAD.format(rule=rule)
    for pattern, words in _EVALUATION:
        if re.fullmatch(pattern, text, re.DOTALL):
            text = re.sub(pattern, words, text, flags=re.DOTALL)
            break
    text = wrong.get(text.removeprefix("no such key: "), text)
    return f"{text} evaluating rule: {rule}"
