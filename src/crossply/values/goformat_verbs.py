"""Printing one value by one verb and its flags. See `goformat`.

Strings, numbers and booleans are printed to the letter of Go's fmt; objects and arrays element by element
with the same verb and flags, over a list of what is still to print instead of recursion: values may be deep.
"""

import sys
from typing import Any, NamedTuple

from crossply.errors import CrossplyError
from crossply.values.go_type_names import go_type
from crossply.values.gonumbers import format_float
from crossply.values.goquote import (
    can_backquote,
    character,
    quote,
    quote_ascii,
    quote_rune,
    quote_rune_ascii,
    utf8,
)

_INTEGER_VERBS = {"v": "d", "O": "o"} | {verb: verb for verb in "dboxX"}
_PREFIXES = {"b": "0b", "x": "0x", "X": "0X"}
_FLOAT_VERBS = {"v": "g", "F": "f"} | {verb: verb for verb in "bgGxXfeE"}
_MAX_RUNE = sys.maxunicode


class Flags(NamedTuple):
    """What stands between `%` and the verb; `sharp_v` is the # of %#v."""

    width: int = 0
    precision: int | None = None
    sharp: bool = False
    zero: bool = False
    plus: bool = False
    minus: bool = False
    space: bool = False
    sharp_v: bool = False


PLAIN = Flags()
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
        return _pad("<nil>", flags) if verb in "vT" else f"%!{verb}(<nil>)"
    if verb == "T":
        return _print_scalar(go_type(value), "s", flags)
    if not isinstance(value, dict | list):
        return _print_scalar(value, verb, flags)
    if verb == "p":
        return _print_digits(_ADDRESS, "x", "x", flags._replace(sharp=not flags.sharp))
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
            text = _print_scalar(item, verb, flags)
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


def _print_scalar(value: Any, verb: str, flags: Flags) -> str:
    """Print a string, number or boolean."""
    kind = value.__class__
    if kind is str:
        text = _print_string(value, verb, flags)
    elif kind is bool:
        text = _pad("true" if value else "false", flags) if verb in "tv" else None
    elif kind is int:
        text = _print_integer(value, verb, flags)
    elif kind is float:
        text = _print_float(value, verb, flags)
    else:
        text = _pad(str(value), flags)
    if text is None:
        return f"%!{verb}({go_type(value)}={_print_scalar(value, 'v', flags)})"
    return text


def _pad(text: str, flags: Flags) -> str:
    """Fill text up to the width: on the right with -, else on the left, with zeros if asked."""
    missing = flags.width - len(text)
    if missing <= 0:
        return text
    if flags.minus:
        return text + " " * missing
    return ("0" if flags.zero else " ") * missing + text


def _pad_with_spaces(text: str, flags: Flags) -> str:
    return _pad(text, flags._replace(zero=False)) if flags.zero else _pad(text, flags)


def _print_string(value: str, verb: str, flags: Flags) -> str | None:
    if verb == "s" or (verb == "v" and not flags.sharp_v):
        return _pad(value[: flags.precision], flags)
    if verb in "qv":
        return _print_quoted(value[: flags.precision], flags)
    if verb in "xX":
        return _print_hex_string(value, verb, flags)
    return None


def _print_quoted(value: str, flags: Flags) -> str:
    if flags.sharp and can_backquote(value):
        return _pad(f"`{value}`", flags)
    return _pad(quote_ascii(value) if flags.plus else quote(value), flags)


def _print_hex_string(value: str, verb: str, flags: Flags) -> str:
    data = utf8(value)[: flags.precision]
    digits = data.hex(" ") if flags.space else data.hex()
    if verb == "X":
        digits = digits.upper()
    if flags.sharp and digits:
        prefix = f"0{verb}"
        digits = prefix + digits.replace(" ", f" {prefix}")
    return _pad(digits, flags)


def _print_integer(value: int, verb: str, flags: Flags) -> str | None:
    """Print an integer; None means that the verb is none for integers."""
    notation = _INTEGER_VERBS.get(verb)
    if notation is not None:
        return _print_digits(value, verb, notation, flags)
    if verb == "c":
        return _pad(character(value), flags)
    if verb == "q":
        return _pad(quote_rune_ascii(value) if flags.plus else quote_rune(value), flags)
    if verb == "U":
        return _print_code_point(value, flags)
    return None


def _print_digits(value: int, verb: str, notation: str, flags: Flags) -> str:
    """Print an integer in a notation, for a verb: the verb O differs from o in its prefix."""
    if flags is PLAIN and notation == "d":
        return str(value)
    if flags.precision == 0 and value == 0:
        return " " * flags.width
    sign = _sign(value < 0, flags)
    digits = format(abs(value), notation)
    if flags.precision is not None:
        digits = digits.rjust(flags.precision, "0")
    elif flags.zero and not flags.minus:
        digits = digits.rjust(flags.width - len(sign), "0")
    return _pad_with_spaces(sign + _prefix(digits, verb, notation, flags) + digits, flags)


def _sign(negative: bool, flags: Flags) -> str:
    if negative:
        return "-"
    return "+" if flags.plus else " " if flags.space else ""


def _prefix(digits: str, verb: str, notation: str, flags: Flags) -> str:
    if notation == "o":
        leading = "0" if flags.sharp and digits[0] != "0" else ""
        return "0o" + leading if verb == "O" else leading
    return _PREFIXES.get(notation, "") if flags.sharp else ""


def _print_code_point(value: int, flags: Flags) -> str:
    code = value % (1 << 64)
    digits = f"{code:X}".rjust(max(flags.precision or 0, 4), "0")
    shown = ""
    if flags.sharp and code <= _MAX_RUNE and chr(code).isprintable():
        shown = f" '{chr(code)}'"
    return _pad_with_spaces(f"U+{digits}{shown}", flags)


def _print_float(value: float, verb: str, flags: Flags) -> str | None:
    notation = _FLOAT_VERBS.get(verb)
    if notation is None:
        return None
    precision = flags.precision
    if precision is None:
        precision = 6 if notation in "efE" else -1
    number = format_float(value, notation, precision)
    if flags is PLAIN:
        return number
    negative = number[0] == "-"
    digits = number.lstrip("+-")
    if digits[0] in "IN":
        return _print_not_a_number(number, flags)
    if flags.sharp and notation != "b":
        digits = _with_point(digits, notation, precision)
    sign = _sign(negative, flags)
    if flags.zero and not flags.minus:
        digits = digits.rjust(flags.width - len(sign), "0")
    return _pad(sign + digits, flags)


def _print_not_a_number(number: str, flags: Flags) -> str:
    """Infinities carry a sign always, NaN only on request; neither is padded with zeros."""
    sign = _sign(number == "-Inf", flags)
    text = sign + "NaN" if number == "NaN" else (sign or "+") + "Inf"
    return _pad_with_spaces(text, flags)


def _with_point(digits: str, notation: str, precision: int) -> str:
    """Give a number the decimal point and the trailing zeros that # asks for."""
    mantissa, exponent = digits, ""
    for mark in "pP" if notation in "xX" else "eE":
        if mark in digits:
            mantissa, _, tail = digits.partition(mark)
            exponent = mark + tail
    digit_count = 0
    if notation in "gGx":
        digit_count = 6 if precision == -1 else precision
    digit_count -= _significant(mantissa)
    if "." not in mantissa:
        if mantissa == "0":
            digit_count -= 1
        mantissa += "."
    return mantissa + "0" * max(digit_count, 0) + exponent


def _significant(mantissa: str) -> int:
    """Count the digits from the first that is not zero; Go counts the x of 0x among them."""
    return len(mantissa.replace(".", "").lstrip("0"))
