"""What a server says about a Secret that it refused, without the values that it quotes.

A refusal ends up in conditions, events and logs, where everybody reads it.
"""

from __future__ import annotations

import re

from crossply.kube.failures import KubeError

HIDDEN = "(hidden)"

_INVALID = re.compile(r'((?:Invalid|Unsupported|Duplicate) value): (?:"(?:[^"\\]|\\.)*"|[^:\n]*)')
# The value may hold anything, also what looks like the end of it: nothing after it is kept.
_GOT = re.compile(r"(expected [a-z]+, got) .*", re.DOTALL)


def without_values(problem: KubeError) -> KubeError:
    """The same refusal, naming fields and rules only."""
    problem.args = (_hidden(str(problem)),)
    problem.causes = tuple(cause._replace(message=_hidden(cause.message)) for cause in problem.causes)
    return problem


def _hidden(text: str) -> str:
    return _GOT.sub(rf"\1 {HIDDEN}", _INVALID.sub(rf"\1: {HIDDEN}", text))
