"""Load statements of a script, found without compiling it."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import lru_cache

_LOAD = "load"
_BLANK = (tokenize.NL, tokenize.COMMENT)


@lru_cache(maxsize=256)
def loaded_modules(source: str) -> tuple[str, ...]:
    """The names in the load statements of a script; none for one that has syntax errors."""
    if _LOAD not in source:
        return ()
    try:
        return tuple(_names(tokenize.generate_tokens(io.StringIO(source).readline)))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return ()


def _names(tokens: Iterator[tokenize.TokenInfo]) -> Iterator[str]:
    starts_statement, depth = True, 0
    for token in tokens:
        if token.type in _BLANK:
            continue
        if token.type == tokenize.INDENT or token.type == tokenize.DEDENT:
            depth += 1 if token.type == tokenize.INDENT else -1
            continue
        if starts_statement and depth == 0 and token.string == _LOAD:
            name = _first_argument(tokens)
            if name is not None:
                yield name
        starts_statement = token.type == tokenize.NEWLINE or token.string == ";"


def _first_argument(tokens: Iterator[tokenize.TokenInfo]) -> str | None:
    opening = next(tokens, None)
    if opening is None or opening.string != "(":
        return None
    for token in tokens:
        if token.type in _BLANK:
            continue
        if token.type != tokenize.STRING:
            return None
        value = ast.literal_eval(token.string)
        return value if isinstance(value, str) else None
    return None
