"""Arguments that are written out in an expression and cannot be right: Kubernetes refuses them at once."""

from __future__ import annotations

import re

from crossply.schema import formats
from crossply.values.durations import parse_duration

_CALLS = re.compile(
    r"\b(?P<call>matches|duration|timestamp)\(\s*(?P<text>r?(?:\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'))\s*\)"
)


def literal_issues(expression: str) -> list[str]:
    """Return the issues of patterns, durations and times that are written in an expression."""
    issues = []
    for call in _CALLS.finditer(expression):
        text = _unquoted(call["text"])
        if text is not None and not _is_right(call["call"], text):
            issues.append(_issue(expression, call["call"], call.start("text")))
    return issues


def _unquoted(literal: str) -> str | None:
    if literal.startswith("r"):
        return literal[2:-1]
    # An escape other than that of a backslash or a quote is rare; leave it to the evaluator.
    text = re.sub(r"\\([\\'\"])", r"\1", literal[1:-1])
    return None if re.search(r"\\[^\\'\"]", literal) else text


def _is_duration(text: str) -> bool:
    try:
        parse_duration(text)
    except ValueError:
        return False
    return True


def _is_right(call: str, text: str) -> bool:
    if call == "duration":
        return _is_duration(text)
    if call == "timestamp":
        return formats.is_date_time(text)
    from crossply.errors import CrossplyError
    from crossply.values.regexp import compile_go

    try:
        compile_go(text)
    except CrossplyError:
        return False
    return True


def _issue(expression: str, call: str, at: int) -> str:
    before = expression[:at]
    line = before.count("\n") + 1
    column = at - (before.rfind("\n") + 1)
    source = expression.split("\n")[line - 1]
    return f"ERROR: <input>:{line}:{column + 1}: invalid {call} argument\n | {source}\n | {'.' * column}^"
