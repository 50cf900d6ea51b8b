"""What is wrong with a text that cannot be parsed, in the words that users know from Kubernetes.

The parser of cel-expr-python has these words: it is made of the same grammar as that of cel-go.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from crossply.functions.builtin.kro.cel.syntax_tree import Source
from crossply.functions.builtin.kro.cel.tokens import Malformed

_ISSUE = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*?)(?: \[INVALID_ARGUMENT\])?$", re.MULTILINE)


def issues_of(text: str, source: Source, error: Malformed) -> str:
    """The issues of a text, which our own parser stopped at."""
    if error.position < 0:
        return f"ERROR: <input>:-1:0: {error.message}"
    if error.message:
        return source.report([(source.new_id(error.position), error.message)])
    try:
        _wording_parser().compile(text, True)
        problem = ""
    except (RuntimeError, ValueError) as problems:
        problem = str(problems)
    issues = [(int(line) - 1, int(column) - 1, message) for line, column, message in _ISSUE.findall(problem)]
    shown = [source.shown(*issue) for issue in issues if source.has_line(issue[0])]
    if not shown:
        shown = [source.report([(source.new_id(error.position), "Syntax error")])]
    # An empty text has no line that could be shown.
    return "\n".join(shown) if text else shown[0].partition("\n")[0].replace(":1:1:", ":1:0:")


@cache
def _wording_parser() -> Any:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_optional

    return cel.NewEnv(extensions=[ext_optional.ExtOptional()])
