"""Printing one value by one verb and its flags. See `goformat`.

Scalars are printed by `goformat_scalars`; objects and arrays here, element by element with the same verb
and flags, over a list of what is still to print instead of recursion: values may be deep.
"""

from __future__ import annotations

from typing import Any

from crossply.errors import CrossplyError
from crossply.values.goformat_scalars import PLAIN, Flags, pad, print_digits, print_scalar
from crossply.values.gotypes import go_type

_ADDRESS = 0xC000012000
"""What `%p` shows for every object and array: Go shows an address there, different in each run."""


MAX_TEXT = 64 << 20
"""How long a text may get: a short format can produce millions of spaces."""


class FormatError(CrossplyError):
    """A format asks for an absurd amount of text."""

    code = "CP-125"


class _Verbatim(str):
    """Punctuation between elements, on the same stack as the values that are still to print."""

    __slots__ = ()


def print_value(value: Any, verb: str, flags: Flags) -> str:
    """Print a value as an argument of Sprintf."""
    if value is None:
        return pad("<nil>", flags) if verb in "vT" else f"%!{verb}(<nil>)"
    if verb == "T":
        return print_scalar(go_type(value), "s", flags)
    if not isinstance(value, dict | list):
        return print_scalar(value, verb, flags)
    if verb == "p":
        return print_digits(_ADDRESS, "x", "x", flags._replace(sharp=not flags.sharp))
    if verb == "w":
        return f"%!w({go_type(value)}={_print_nested(value, 'v', flags)})"
    return _print_nested(value, verb, flags)


def checked_length(length: int) -> int:
    """Return a length that is within bounds, or refuse it."""
    if length > MAX_TEXT:
        raise FormatError(f"the formatted text is longer than {MAX_TEXT} characters")
    return length


def _print_nested(value: Any, verb: str, flags: Flags) -> str:
    pieces: list[str] = []
    pending: list[Any] = [value]
    length = 0
    while pending:
        item = pending.pop()
        if item.__class__ is _Verbatim:
            pieces.append(item)
        elif isinstance(item, dict | list):
            pending += reversed(_opened(item, flags))
        elif item is None:
            pieces.append("interface {}(nil)" if flags.sharp_v else "<nil>")
        else:
            text = print_scalar(item, verb, flags)
            length = checked_length(length + len(text))
            pieces.append(text)
    return "".join(pieces)


_SPACE, _COMMA, _COLON = _Verbatim(" "), _Verbatim(", "), _Verbatim(":")
_SQUARE, _MAP, _SQUARE_END, _CURLY_END = _Verbatim("["), _Verbatim("map["), _Verbatim("]"), _Verbatim("}")


def _opened(container: Any, flags: Flags) -> list[Any]:
    """Lay a container out flat: its brackets, its elements, and what stands between them."""
    separator = _COMMA if flags.sharp_v else _SPACE
    if isinstance(container, dict):
        # Go sorts keys by their UTF-8 bytes; Python's order of code points is the same one.
        keys = sorted(container)
        elements = [part for key in keys for part in (separator, key, _COLON, container[key])]
    else:
        elements = [part for item in container for part in (separator, item)]
    if flags.sharp_v:
        return [_Verbatim(go_type(container) + "{"), *elements[1:], _CURLY_END]
    return [_MAP if isinstance(container, dict) else _SQUARE, *elements[1:], _SQUARE_END]


__all__ = ["PLAIN", "Flags", "FormatError", "checked_length", "print_value"]
