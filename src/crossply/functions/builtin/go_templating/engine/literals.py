"""Parsing Go literals: quoted strings, characters and numbers, with the rules of Go's strconv."""

from __future__ import annotations

from typing import NamedTuple

from crossply.values.gonumbers import NumberError, parse_float
from crossply.values.goquote import quote

_INT64, _UINT64 = 1 << 63, 1 << 64
_SIMPLE = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_FLOAT_MARKS = frozenset(".eEpP")


class LiteralError(Exception):
    """A literal does not say what it must; the message is Go's."""


class Number(NamedTuple):
    """A number and every type it can have: an untyped constant fits where it can be represented."""

    text: str
    as_int: int | None = None
    as_uint: int | None = None
    as_float: float | None = None
    as_complex: complex | None = None


def unquote(text: str) -> str:
    """The string that a literal in double quotes or backquotes stands for."""
    body = text[1:-1]
    if text[0] == "`":
        return body.replace("\r", "")
    if "\\" not in body:
        return body
    out = bytearray()
    at = 0
    while at < len(body):
        encoded, at = _character(body, at, '"')
        out += encoded
    return out.decode("utf-8", "surrogateescape")


def read_rune(text: str) -> Number:
    """The number of the character that a literal in single quotes stands for."""
    body = text[1:]
    if body[0] in "'\n":
        raise LiteralError("invalid syntax")
    encoded, at = _character(body, 0, "'")
    if body[at:] != "'":
        raise LiteralError(f"malformed character constant: {text}")
    code = encoded[0] if len(encoded) == 1 else ord(encoded.decode("utf-8"))
    return Number(text, code, code, float(code))


def _character(body: str, at: int, mark: str) -> tuple[bytes, int]:
    """One character or escape: its bytes and where the next one starts."""
    char = body[at]
    if char != "\\":
        return char.encode("utf-8", "surrogateescape"), at + 1
    escape = body[at + 1 : at + 2]
    if escape in _SIMPLE:
        return bytes((_SIMPLE[escape],)), at + 2
    if escape and escape == mark:
        return escape.encode(), at + 2
    if escape in _HEX_DIGITS:
        length = _HEX_DIGITS[escape]
        code = _digits(body[at + 2 : at + 2 + length], length, 16)
        return _encoded(code, escape == "x"), at + 2 + length
    code = _digits(body[at + 1 : at + 4], 3, 8)
    if code > 255:
        raise LiteralError("invalid syntax")
    return bytes((code,)), at + 4


def _digits(text: str, length: int, base: int) -> int:
    if len(text) != length or "_" in text or not text.isalnum():
        raise LiteralError("invalid syntax")
    try:
        return int(text, base)
    except ValueError:
        raise LiteralError("invalid syntax") from None


def _encoded(code: int, is_byte: bool) -> bytes:
    if is_byte:
        return bytes((code,))
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise LiteralError("invalid syntax")
    return chr(code).encode()


def read_number(text: str) -> Number:
    """A number as Go's template parser reads it: of every type that can hold it."""
    if text.endswith("i"):
        imaginary = _float(text[:-1])
        if imaginary is not None:
            return _simplified(text, complex(0, imaginary))
    integer = _integer(text)
    if integer is not None and -_INT64 <= integer < _UINT64:
        as_uint = integer if integer >= 0 and (text[0] not in "+-" or integer == 0) else None
        as_int = integer if integer < _INT64 else None
        if as_int is not None or as_uint is not None:
            return Number(text, as_int, as_uint, float(integer))
    number = _float(text)
    if number is None:
        raise LiteralError(f"illegal number syntax: {quote(text)}")
    if not _FLOAT_MARKS & set(text):
        raise LiteralError(f"integer overflow: {quote(text)}")
    return Number(text, *_as_integers(number), number)


def read_complex(text: str) -> Number:
    """A complex number such as `1+2i`."""
    split = max(text.rfind("+"), text.rfind("-"))
    real, imaginary = _float(text[:split]), _float(text[split:-1])
    if real is None or imaginary is None:
        raise LiteralError("syntax error scanning complex number")
    return _simplified(text, complex(real, imaginary))


def _simplified(text: str, number: complex) -> Number:
    if number.imag != 0:
        return Number(text, as_complex=number)
    return Number(text, *_as_integers(number.real), number.real, number)


def _as_integers(number: float) -> tuple[int | None, int | None]:
    """The number as a signed and as an unsigned integer, where it is one."""
    if not number.is_integer():
        return None, None
    integer = int(number)
    as_int = integer if -_INT64 <= integer < _INT64 else None
    return as_int, integer if 0 <= integer < _UINT64 else None


def _integer(text: str) -> int | None:
    digits = text.lstrip("+-")
    try:
        if len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567_":
            value = int(digits[1:].removeprefix("_"), 8)
        else:
            value = int(digits, 0)
    except ValueError:
        return None
    return -value if text[0] == "-" else value


def _float(text: str) -> float | None:
    try:
        return parse_float(text)
    except NumberError:
        return None
