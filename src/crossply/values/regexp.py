"""Regular expressions with Go's syntax and guarantees: linear time, no look-around, no back-references.

The engine is RE2, Go's own ancestor. Its errors are translated into Go's messages, which users search for.
"""

from __future__ import annotations

from typing import Any

from crossply.errors import CrossplyError
from crossply.values.bounded_cache import cached_for_short_texts

_GO_WORDS = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "unexpected )": "unexpected )",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}


class RegexpError(CrossplyError):
    """A regular expression is malformed, or uses what Go's syntax does not have."""

    code = "CP-123"


@cached_for_short_texts(512, longest=4096)
def compile_go(pattern: str) -> Any:
    """Compile a pattern of Go's syntax; the result has the methods of Python's `re` patterns."""
    import re2

    if _matches_single_bytes(pattern):
        raise RegexpError(_sentence("invalid escape sequence", r"\C"))
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise RegexpError(_in_go_words(pattern, _text(error.args[0]))) from None


def _text(message: str | bytes) -> str:
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else message


def _matches_single_bytes(pattern: str) -> bool:
    r"""Return whether the pattern uses \C, which RE2 has and Go does not."""
    at = pattern.find("\\")
    while 0 <= at < len(pattern) - 1:
        escaped = pattern[at + 1]
        if escaped == "C":
            return True
        if escaped == "Q":
            at = pattern.find(r"\E", at)
            if at < 0:
                return False
        at = pattern.find("\\", at + 2)
    return False


def _in_go_words(pattern: str, message: str) -> str:
    if message.startswith("pattern too large"):
        return _sentence("expression too large", pattern)
    problem, _, culprit = message.partition(": ")
    if culprit.startswith("(?<"):
        return _sentence("invalid named capture", _named_group(pattern, culprit))
    return _sentence(_GO_WORDS.get(problem, problem), culprit)


def _named_group(pattern: str, culprit: str) -> str:
    """Return the text that Go takes for the name of a group where others would see a look-behind."""
    rest = pattern[pattern.find(culprit) :]
    closing = rest.find(">")
    return rest if closing < 0 else rest[: closing + 1]


def _sentence(problem: str, culprit: str) -> str:
    return f"error parsing regexp: {problem}: `{culprit}`"
