"""Go's fmt.Sprintf for JSON values: the text that string transforms and combined patches produce.

Where the format and its arguments disagree Go never fails, it writes the error into the text
(`%!d(string=x)`, `%!s(MISSING)`); users have seen and copied those texts, so they are kept. Three parts:
`goformat_parse` reads a format once, `goformat_verbs` prints one value by one verb, this module joins them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crossply.values.go_type_names import go_type
from crossply.values.goformat_parse import Directive, Plan, plan
from crossply.values.goformat_verbs import PLAIN, Flags, FormatError, checked_length, print_value

_MAX_STAR = 1_000_000


def sprintf(format: str, args: Sequence[Any]) -> str:  # noqa: A002 - Go's name for it
    """Format args as Go's fmt.Sprintf would; int is int64, float float64, None nil."""
    prepared = plan(format, len(args))
    pieces: list[str] = []
    length = 0
    for piece in prepared.pieces:
        text = piece if isinstance(piece, str) else _formatted(piece, args)
        length = checked_length(length + len(text))
        pieces.append(text)
    if prepared.extra_from is not None:
        pieces.append(_extra(prepared, args))
    return "".join(pieces)


def _formatted(directive: Directive, args: Sequence[Any]) -> str:
    if directive.width_from is not None or directive.precision_from is not None:
        return _starred(directive, args)
    if directive.argument is None:
        return directive.fixed
    value = args[directive.argument]
    if value.__class__ is str and directive.flags is PLAIN and directive.verb in "sv":
        return value
    return print_value(value, directive.verb, directive.flags)


def _starred(directive: Directive, args: Sequence[Any]) -> str:
    """Format with a width or precision from the arguments; an invalid one is reported first."""
    flags = directive.flags
    bad_width = bad_precision = ""
    if directive.width_from is not None:
        bad_width, flags = _with_width(flags, _star(args, directive.width_from))
    if directive.precision_from is not None:
        bad_precision, flags = _with_precision(flags, _star(args, directive.precision_from))
    resolved = directive._replace(flags=flags, width_from=None, precision_from=None)
    return bad_width + bad_precision + _formatted(resolved, args)


def _star(args: Sequence[Any], index: int) -> int | None:
    """Return the width or precision that a `*` takes from the arguments, if it is a sane number."""
    value = args[index] if index < len(args) else None
    if value.__class__ is not int or abs(value) > _MAX_STAR:
        return None
    return value


def _with_width(flags: Flags, width: int | None) -> tuple[str, Flags]:
    if width is None:
        return "%!(BADWIDTH)", flags
    if width < 0:
        return "", flags._replace(width=-width, minus=True, zero=False)
    return "", flags._replace(width=width)


def _with_precision(flags: Flags, precision: int | None) -> tuple[str, Flags]:
    if precision is None or precision < 0:
        return "%!(BADPREC)", flags
    return "", flags._replace(precision=precision)


def _extra(prepared: Plan, args: Sequence[Any]) -> str:
    shown = (
        "<nil>" if arg is None else f"{go_type(arg)}={print_value(arg, 'v', PLAIN)}"
        for arg in args[prepared.extra_from :]
    )
    return f"%!(EXTRA {', '.join(shown)})"


__all__ = ["FormatError", "go_type", "sprintf"]
