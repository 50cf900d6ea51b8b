"""What a server says about a Secret that it refused, without the values that it quotes.

A refusal ends up in conditions, events and logs, where everybody reads it.
"""

from __future__ import annotations

import re

from crossply.kube.failures import Conflict, KubeError

HIDDEN = "(hidden)"

_INVALID = re.compile(r'((?:Invalid|Unsupported|Duplicate) value): (?:"(?:[^"\\]|\\.)*"|[^:\n]*)')
# The value may hold anything, also what looks like the end of it: nothing after it is kept.
_GOT = re.compile(r"(expected [a-z]+, got) .*", re.DOTALL)


def without_values(problem: KubeError | Conflict) -> KubeError | Conflict:
    """The same refusal, naming fields and rules only."""
    message = _hidden(str(problem))
    causes = tuple(cause._replace(message=_hidden(cause.message)) for cause in problem.causes)
    if isinstance(problem, Conflict):
        return type(problem)(message, status=problem.status, reason=problem.reason, causes=causes)
    hidden = problem.replace(message=message)
    hidden.causes = causes
    return hidden


def _hidden(text: str) -> str:
    return _GOT.sub(rf"\1 {HIDDEN}", _INVALID.sub(rf"\1: {HIDDEN}", text))
