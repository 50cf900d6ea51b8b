"""Go formats made into closures. Nearly all that people write is `%s` with texts, which needs no reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from crossply.functions.builtin.patch_and_transform.limits import check_length
from crossply.values.goformat import sprintf

Format = Callable[[Sequence[Any]], str]

_FEW = 16
"""So many verbs need not be counted: the values come from one request, whose size is limited."""


def formatter(text: str, count: int) -> Format:
    """Make a closure that formats so many values."""
    plain = _plain(text, count)
    careful = _careful(text) if text.count("%") > _FEW else lambda values: sprintf(text, values)
    if plain is None:
        return careful

    def format_texts(values: Sequence[Any]) -> str:
        length = len(plain)
        for value in values:
            if type(value) is not str:
                return careful(values)
            length += len(value)
        check_length(length)
        return plain % tuple(values)

    return format_texts


def _careful(text: str) -> Format:
    """A format may name the same value again and again: look first how long that gets."""
    verbs = text.count("%")

    def format_bounded(values: Sequence[Any]) -> str:
        for value in values:
            check_length(len(text) + verbs * len(sprintf("%v", (value,))))
        return sprintf(text, values)

    return format_bounded


def _plain(text: str, count: int) -> str | None:
    """The format in Python's own spelling, if it has nothing but `%s` and `%v`, one for each value."""
    first, *rest = text.split("%")
    if len(rest) != count or not all(piece[:1] in ("s", "v") for piece in rest):
        return None
    return "%s".join([first, *(piece[1:] for piece in rest)])
