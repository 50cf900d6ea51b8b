"""The errors of Go's JSON scanner.

Only run on text that failed to parse. It follows Go byte by byte: a character of several bytes is named by
its first, and the end of the text counts as a space, so `tru` is an unexpected `' '`.
"""

from __future__ import annotations

from crossply.values.goquote import quote, utf8

MAX_DEPTH = 10_000
_MOST_STEPS = 50_000
"""How many values and escapes are scanned: in megabytes of broken JSON the position is not worth it."""
_END = "unexpected end of JSON input"
_SPACES = b" \t\r\n"
_DIGITS = b"0123456789"
_PLAIN_TEXT = rb'[^"\\\x00-\x1f]*'
_HEX_DIGITS = b"0123456789abcdefABCDEF"
_CLOSING = {b"{": b"}", b"[": b"]"}
_WORDS = {b"t": b"true", b"f": b"false", b"n": b"null"}


class _SyntaxProblem(Exception):
    """What is wrong with the text."""


def syntax_problem(text: str) -> str:
    """Return Go's error for a text that is not JSON; empty if it is JSON."""
    return first_problem(text)[0]


def first_problem(text: str) -> tuple[str, int]:
    """Return Go's error for a text that is not JSON and its offset in bytes; no error if it is JSON."""
    scanner = _Scanner(utf8(text))
    try:
        scanner.scan()
    except _SyntaxProblem as error:
        return str(error), scanner.read
    return "", scanner.read


class _Scanner:
    """A walk over the bytes; `_open` holds the brackets that are not closed yet."""

    __slots__ = ("_at", "_data", "_end", "_open", "_steps")

    def __init__(self, data: bytes) -> None:
        self._data = data + b" "
        self._end = len(data)
        self._at = 0
        self._open: list[bytes] = []
        self._steps = _MOST_STEPS

    @property
    def read(self) -> int:
        """How many bytes were read, with the one that is wrong."""
        return self._at + 1

    def scan(self) -> None:
        expects_value = True
        while expects_value or self._open:
            self._step()
            expects_value = self._value() if expects_value else self._after_value()
        self._skip_spaces()
        if self._at < self._end:
            self._fail("after top-level value")

    def _byte(self) -> bytes:
        if self._at >= len(self._data):
            raise _SyntaxProblem(_END)
        return self._data[self._at : self._at + 1]

    def _after(self, run: bytes) -> bytes:
        """The byte after a run of unremarkable ones, which may be millions."""
        import re

        match = re.compile(run).match(self._data, self._at)
        self._at = match.end() if match else self._at
        return self._byte()

    def _fail(self, context: str) -> None:
        char = chr(self._data[self._at])
        shown = {"'": r"'\''", '"': "'\"'"}.get(char) or f"'{quote(char)[1:-1]}'"
        raise _SyntaxProblem(f"invalid character {shown} {context}")

    def _skip_spaces(self) -> None:
        while self._at < len(self._data) and self._data[self._at] in _SPACES:
            self._at += 1

    def _next(self) -> bytes:
        self._skip_spaces()
        return self._byte()

    def _value(self) -> bool:
        """Read a scalar, or enter an object or array; return whether a value must follow."""
        char = self._next()
        if char in b"{[":
            return self._enter(char)
        if char == b'"':
            self._string()
        elif char in b"-0123456789":
            self._number()
        elif char in _WORDS:
            self._word(_WORDS[char])
        else:
            self._fail("looking for beginning of value")
        return False

    def _enter(self, bracket: bytes) -> bool:
        self._open.append(bracket)
        if len(self._open) > MAX_DEPTH:
            self._fail("exceeded max depth")
        self._at += 1
        if self._next() == _CLOSING[bracket]:
            self._leave()
            return False
        if bracket == b"{":
            self._key()
        return True

    def _leave(self) -> None:
        self._at += 1
        self._open.pop()

    def _after_value(self) -> bool:
        """Read the comma or bracket after a value; return whether another value must follow."""
        bracket = self._open[-1]
        char = self._next()
        if char == _CLOSING[bracket]:
            self._leave()
            return False
        if char != b",":
            self._fail("after object key:value pair" if bracket == b"{" else "after array element")
        self._at += 1
        if bracket == b"{":
            self._key()
        return True

    def _key(self) -> None:
        if self._next() != b'"':
            self._fail("looking for beginning of object key string")
        self._string()
        if self._next() != b":":
            self._fail("after object key")
        self._at += 1

    def _string(self) -> None:
        self._at += 1
        while (char := self._after(_PLAIN_TEXT)) != b'"':
            if char < b" ":
                self._fail("in string literal")
            self._at += 1
            if char == b"\\":
                self._escape()
        self._at += 1

    def _step(self) -> None:
        self._steps -= 1
        if not self._steps:
            raise _SyntaxProblem("invalid JSON, far into a long text")

    def _escape(self) -> None:
        self._step()
        char = self._byte()
        if char not in b'bfnrt\\/"u':
            self._fail("in string escape code")
        self._at += 1
        for _ in range(4 if char == b"u" else 0):
            if self._byte() not in _HEX_DIGITS:
                self._fail("in \\u hexadecimal character escape")
            self._at += 1

    def _number(self) -> None:
        if self._byte() == b"-":
            self._at += 1
            self._need_digit("in numeric literal")
        if self._byte() == b"0":
            self._at += 1
        else:
            self._skip_digits()
        if self._byte() == b".":
            self._at += 1
            self._need_digit("after decimal point in numeric literal")
            self._skip_digits()
        if self._byte() in b"eE":
            self._at += 1
            if self._byte() in b"+-":
                self._at += 1
            self._need_digit("in exponent of numeric literal")
            self._skip_digits()

    def _need_digit(self, context: str) -> None:
        if self._byte() not in _DIGITS:
            self._fail(context)

    def _skip_digits(self) -> None:
        self._after(rb"[0-9]*")

    def _word(self, word: bytes) -> None:
        for expected in word.decode():
            if self._byte() != expected.encode():
                self._fail(f"in literal {word.decode()} (expecting '{expected}')")
            self._at += 1
