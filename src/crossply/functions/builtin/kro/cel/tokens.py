"""The tokens of an expression, and the values of literals."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isinf
from typing import Any, NamedTuple

from crossply.functions.builtin.kro.cel.values import UInt

_INT64 = 2**63
_UINT64 = 2**64
_SIMPLE = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    **dict(zip("\\\"'?`", "\\\"'?`", strict=True)),
}
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\\"'?`])|[xX]([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-3][0-7]{2})|(.?))",
    re.DOTALL,
)
_TEXT = r"""(?:"{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^\\"\n\r])*"|'(?:\\.|[^\\'\n\r])*')"""
_RAW_TEXT = r"""(?:"{3}.*?"{3}|'{3}.*?'{3}|"[^"\n\r]*"|'[^'\n\r]*')"""
_TOKEN = re.compile(
    rf"""
    (?P<blank>[\t\ \r\n\f]+|//[^\n]*)
    | (?P<text>[bB]?(?:[rR]{_RAW_TEXT}|{_TEXT}))
    | (?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
    | (?P<uint>(?:0x[0-9A-Fa-f]+|\d+)[uU])
    | (?P<int>0x[0-9A-Fa-f]+|\d+)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<quoted>`[A-Za-z0-9_./\ -]+`)
    | (?P<sign>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,!?:+*/%-])
    """,
    re.DOTALL | re.VERBOSE | re.ASCII,
)


class Malformed(Exception):
    """A text is no expression. `message` is there where the parser of cel-go would say the same."""

    def __init__(self, position: int, message: str = "") -> None:
        super().__init__(message)
        self.position = position
        self.message = message


class Token(NamedTuple):
    """`kind` is the sign itself for signs and for words of the language."""

    kind: str
    text: str
    position: int


_WORDS = frozenset(("true", "false", "null", "in"))


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, and one for its end; raises Malformed."""
    tokens = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Malformed(at)
        kind = str(match.lastgroup)
        if kind == "sign" or match[0] in _WORDS:
            kind = match[0]
        if kind != "blank":
            tokens.append(Token(kind, match[0], at))
        at = match.end()
    return [*tokens, Token("end", "", len(text))]


def literal_value(token: Token, is_negative: bool = False) -> Any:
    """The value of a literal; raises Malformed."""
    return _LITERALS[token.kind](token, is_negative)


def _integer(token: Token, is_negative: bool) -> int:
    number = int(token.text, 16 if token.text.startswith("0x") else 10)
    number = -number if is_negative else number
    if not -_INT64 <= number < _INT64:
        raise Malformed(token.position, "invalid int literal")
    return number


def _unsigned(token: Token, _: bool) -> UInt:
    digits = token.text[:-1]
    number = int(digits, 16 if digits.startswith("0x") else 10)
    if number >= _UINT64:
        raise Malformed(token.position, "invalid uint literal")
    return UInt(number)


def _double(token: Token, is_negative: bool) -> float:
    number = float(token.text)
    if isinf(number):
        raise Malformed(token.position, "invalid double literal")
    return -number if is_negative else number


def _text(token: Token, _: bool) -> str | bytes:
    text = token.text
    is_bytes = text[0] in "bB"
    text = text[1:] if is_bytes else text
    is_raw = text[0] in "rR"
    text = text[1:] if is_raw else text
    marks = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
    content = text[marks:-marks]
    if is_raw:
        return content.encode("utf-8", "surrogatepass") if is_bytes else content
    if is_bytes:
        return _unescaped_bytes(content, token.position)
    return _ESCAPE.sub(lambda escape: _character(escape, token.position), content)


def _character(escape: re.Match[str], position: int) -> str:
    simple, byte, four, eight, octal, _ = escape.groups()
    if simple:
        return _SIMPLE[simple]
    if octal:
        return chr(int(octal, 8))
    digits = byte or four or eight
    code = int(digits, 16) if digits else -1
    if not 0 <= code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise Malformed(position, "" if not digits else "unable to unescape string")
    return chr(code)


def _unescaped_bytes(content: str, position: int) -> bytes:
    parts: list[bytes] = []
    at = 0
    for escape in _ESCAPE.finditer(content):
        parts.append(content[at : escape.start()].encode("utf-8", "surrogatepass"))
        at = escape.end()
        simple, byte, four, eight, octal, _ = escape.groups()
        if four or eight:
            raise Malformed(position, "unable to unescape string")
        if not (simple or byte or octal):
            raise Malformed(position)
        parts.append(_SIMPLE[simple].encode() if simple else bytes([int(byte or octal, 16 if byte else 8)]))
    return b"".join([*parts, content[at:].encode("utf-8", "surrogatepass")])


_LITERALS: dict[str, Callable[[Token, bool], Any]] = {
    "int": _integer,
    "uint": _unsigned,
    "float": _double,
    "text": _text,
    "true": lambda token, _: True,
    "false": lambda token, _: False,
    "null": lambda token, _: None,
}
LITERALS = frozenset(_LITERALS)
