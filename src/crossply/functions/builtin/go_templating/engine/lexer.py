"""The lexer: template text to tokens, as in Go's text/template.

Text between actions is one token. Inside an action, words, literals and punctuation are tokens, and so is
space, because it separates arguments. An invalid token becomes an ERROR token with Go's message, which is
the last one.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.values.goquote import quote

TEXT, LEFT, RIGHT, SPACE, EOF, ERROR = "text", "left delimiter", "right delimiter", "space", "EOF", "error"
ASSIGN, DECLARE, PIPE, LPAREN, RPAREN, CHAR = "=", ":=", "|", "(", ")", "char"
STRING, RAW, RUNE, NUMBER, COMPLEX, BOOL = "string", "raw string", "rune", "number", "complex", "bool"
FIELD, VARIABLE, IDENTIFIER, DOT, NIL = "field", "variable", "identifier", ".", "nil"
KEYWORDS = frozenset(
    (DOT, "block", "break", "continue", "define", "else", "end", "if", "range", NIL, "template", "with")
)

_SPACES = " \t\r\n"
_SINGLE = {"=": ASSIGN, "|": PIPE}
_TERMINATORS = frozenset(" \t\r\n.,|:)(")
_SHOWN = 10


class Token(NamedTuple):
    """A piece of a template: its kind, where it starts, what it says, and its line."""

    kind: str
    at: int
    text: str
    line: int

    def __str__(self) -> str:
        if self.kind == EOF or self.kind == ERROR:
            return self.text
        if self.kind in KEYWORDS:
            return f"<{self.text}>"
        if len(self.text) > _SHOWN:
            return f"{quote(self.text[:_SHOWN])}..."
        return quote(self.text)


class _BadToken(Exception):
    """The text cannot go on like this."""


class Lexer:
    """Reads one template."""

    __slots__ = ("_at", "_in_action", "_left", "_line", "_parens", "_right", "_start", "_start_line", "_text")

    def __init__(self, text: str, left: str, right: str) -> None:
        self._text = text
        self._left = left
        self._right = right
        self._at = self._start = 0
        self._line = self._start_line = 1
        self._parens = 0
        self._in_action = False

    def next(self) -> Token:
        """The next token; at the end, EOF again and again."""
        try:
            return self._inside() if self._in_action else self._outside()
        except _BadToken as error:
            token = Token(ERROR, self._start, str(error), self._start_line)
            self._text, self._at, self._start, self._in_action = "", 0, 0, False
            return token

    def _token(self, kind: str) -> Token:
        """What was read since the last token."""
        text = self._text[self._start : self._at]
        token = Token(kind, self._start, text, self._start_line)
        self._line += text.count("\n")
        self._start, self._start_line = self._at, self._line
        return token

    def _ignore(self) -> None:
        self._line += self._text.count("\n", self._start, self._at)
        self._start, self._start_line = self._at, self._line

    def _outside(self) -> Token:
        """Text up to the next action, or the start of the action; comments vanish."""
        while True:
            start = self._text.find(self._left, self._at)
            if start < 0:
                self._at = len(self._text)
                return self._token(TEXT if self._at > self._start else EOF)
            if start > self._at:
                text = self._text_before(start)
                if text is not None:
                    return text
            if not self._skip_comment():
                return self._open()

    def _text_before(self, start: int) -> Token | None:
        end = start
        if self._trims_left(start + len(self._left)):
            end = self._at + len(self._text[self._at : start].rstrip(_SPACES))
        token = None
        if end > self._start:
            self._at = end
            token = self._token(TEXT)
        self._at = start
        self._ignore()
        return token

    def _trims_left(self, at: int) -> bool:
        return self._text[at : at + 1] == "-" and self._text[at + 1 : at + 2] in tuple(_SPACES)

    def _skip_comment(self) -> bool:
        inside = self._at + len(self._left)
        if self._trims_left(inside):
            inside += 2
        if not self._text.startswith("/*", inside):
            return False
        self._at = inside
        self._ignore()
        end = self._text.find("*/", inside + 2)
        if end < 0:
            raise _BadToken("unclosed comment")
        self._at = end + 2
        trims = self._at_right()
        if trims is None:
            raise _BadToken("comment ends before closing delimiter")
        self._ignore()
        self._pass_right(trims)
        return True

    def _open(self) -> Token:
        self._at += len(self._left)
        trims = self._trims_left(self._at)
        token = self._token(LEFT)
        if trims:
            self._at += 2
            self._ignore()
        self._in_action = True
        self._parens = 0
        return token

    def _at_right(self) -> bool | None:
        """Whether the right delimiter that starts here trims the text after it; None: none starts here."""
        text, at = self._text, self._at
        if text[at : at + 1] in tuple(_SPACES) and text.startswith(f"-{self._right}", at + 1):
            return True
        return False if text.startswith(self._right, at) else None

    def _pass_right(self, trims: bool) -> Token:
        """Read the right delimiter, and the space after it that it trims."""
        if trims:
            self._at += 2
            self._ignore()
        self._at += len(self._right)
        token = self._token(RIGHT)
        if trims:
            while self._peek() in tuple(_SPACES):
                self._at += 1
            self._ignore()
        return token

    def _close(self, trims: bool) -> Token:
        self._in_action = False
        return self._pass_right(trims)

    def _inside(self) -> Token:
        trims = self._at_right()
        if trims is not None:
            if self._parens:
                raise _BadToken("unclosed left paren")
            return self._close(trims)
        char = self._take()
        if char == "":
            raise _BadToken("unclosed action")
        if char in _SPACES:
            return self._space()
        if char in _SINGLE:
            return self._token(_SINGLE[char])
        if char == ":":
            if self._take() != "=":
                raise _BadToken("expected :=")
            return self._token(DECLARE)
        if char in "\"'`":
            return self._quoted(char)
        if char == "$":
            return self._word_token(VARIABLE, VARIABLE)
        if char == "." and not _is_digit(self._peek()) and self._peek():
            return self._word_token(FIELD, DOT)
        if char in "+-." or _is_digit(char):
            self._at -= 1
            return self._number()
        return self._word_or_mark(char)

    def _word_or_mark(self, char: str) -> Token:
        if _is_alphanumeric(char):
            return self._identifier()
        if char == "(":
            self._parens += 1
            return self._token(LPAREN)
        if char == ")":
            self._parens -= 1
            if self._parens < 0:
                raise _BadToken("unexpected right paren")
            return self._token(RPAREN)
        if " " <= char <= "~":
            return self._token(CHAR)
        raise _BadToken(f"unrecognized character in action: {_code_point(char)}")

    def _take(self) -> str:
        char = self._peek()
        self._at += len(char)
        return char

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _space(self) -> Token:
        while self._peek() in tuple(_SPACES):
            self._at += 1
        if self._text.startswith(f"-{self._right}", self._at):
            self._at -= 1  # the space belongs to the delimiter
            if self._at == self._start:
                return self._close(trims=True)
        return self._token(SPACE)

    def _identifier(self) -> Token:
        self._take_word()
        word = self._text[self._start : self._at]
        if word in KEYWORDS:
            return self._token(word)
        return self._token(BOOL if word in ("true", "false") else IDENTIFIER)

    def _word_token(self, kind: str, bare: str) -> Token:
        """A field or a variable; the `.` or `$` is read already, and may stand alone."""
        if self._at_terminator():
            return self._token(bare)
        self._take_word()
        return self._token(kind)

    def _take_word(self) -> None:
        while _is_alphanumeric(self._peek()):
            self._at += 1
        if not self._at_terminator():
            raise _BadToken(f"bad character {_code_point(self._peek())}")

    def _at_terminator(self) -> bool:
        char = self._peek()
        return char == "" or char in _TERMINATORS or self._text.startswith(self._right, self._at)

    def _quoted(self, mark: str) -> Token:
        kind, name = _QUOTED[mark]
        if mark == "`":
            end = self._text.find(mark, self._at)
            if end < 0:
                raise _BadToken(f"unterminated {name}")
            self._at = end + 1
            return self._token(kind)
        while True:
            char = self._take()
            if char == "\\":
                char = self._take()
                if char and char != "\n":
                    continue
            if char in ("", "\n"):
                raise _BadToken(f"unterminated {name}")
            if char == mark:
                return self._token(kind)

    def _number(self) -> Token:
        kind = NUMBER
        good = self._scan_number()
        if good and self._peek() in ("+", "-"):
            kind = COMPLEX
            good = self._scan_number() and self._text[self._at - 1] == "i"
        if not good:
            raise _BadToken(f"bad number syntax: {quote(self._text[self._start : self._at])}")
        return self._token(kind)

    def _scan_number(self) -> bool:
        """Pass what may be a number; whether it is one is found out when it is read."""
        self._accept("+-")
        digits = "0123456789_"
        if self._accept("0"):
            if self._accept("xX"):
                digits = "0123456789abcdefABCDEF_"
            elif self._accept("oO"):
                digits = "01234567_"
            elif self._accept("bB"):
                digits = "01_"
        self._accept_run(digits)
        if self._accept("."):
            self._accept_run(digits)
        exponent = {11: "eE", 23: "pP"}.get(len(digits), "")
        if self._accept(exponent):
            self._accept("+-")
            self._accept_run("0123456789_")
        self._accept("i")
        if _is_alphanumeric(self._peek()):
            self._at += 1
            return False
        return True

    def _accept(self, valid: str) -> bool:
        char = self._peek()
        if char and char in valid:
            self._at += 1
            return True
        return False

    def _accept_run(self, valid: str) -> None:
        while self._accept(valid):
            pass


_QUOTED = {
    '"': (STRING, "quoted string"),
    "'": (RUNE, "character constant"),
    "`": (RAW, "raw quoted string"),
}


def _is_digit(char: str) -> bool:
    return "0" <= char <= "9"


def _is_alphanumeric(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdecimal()


def _code_point(char: str) -> str:
    """What Go's %#U shows."""
    if not char:
        return "U+FFFFFFFFFFFFFFFF"
    shown = f" '{char}'" if char.isprintable() else ""
    return f"U+{ord(char):04X}{shown}"
