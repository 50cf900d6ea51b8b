"""The tokens that the parser reads, with a lookahead of up to three, and its errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from crossply.functions.builtin.go_templating.engine import lexer as kinds
from crossply.functions.builtin.go_templating.engine.errors import ParseError
from crossply.functions.builtin.go_templating.engine.lexer import Lexer, Token
from crossply.functions.builtin.go_templating.engine.literals import LiteralError, unquote
from crossply.functions.builtin.go_templating.engine.nodes import Source

MAX_NESTING = 80
"""How deep actions and parentheses may nest. Go allows 10,000; no template that people read comes near."""

MAX_TOKENS = 200_000
"""How many tokens a template may have: each takes time to be read, and memory while the template is kept."""


class Tokens:
    """Reads ahead, and steps back."""

    __slots__ = ("_ahead", "_depth", "_left", "_lexer", "_window", "action_line", "source")

    def __init__(self, source: Source, left: str, right: str) -> None:
        self.source = source
        self.action_line = 0
        self._lexer = Lexer(source.text, left, right)
        # The last token read from the lexer is the first of the window; those behind it were pushed back.
        nothing = Token(kinds.EOF, 0, "", 1)
        self._window = [nothing, nothing, nothing]
        self._ahead = 0
        self._depth = 0
        self._left = MAX_TOKENS

    def next(self) -> Token:
        """The next token."""
        if self._ahead:
            self._ahead -= 1
        else:
            self._read()
        return self._window[self._ahead]

    def peek(self) -> Token:
        """The next token, left where it is."""
        if not self._ahead:
            self._read()
            self._ahead = 1
        return self._window[self._ahead - 1]

    def _read(self) -> None:
        self._window[0] = self._lexer.next()
        self._left -= 1
        if self._left < 0:
            raise self.error(f"template has more than {MAX_TOKENS} tokens")

    def back_up(self) -> None:
        """Step back by one."""
        self._ahead += 1

    def back_up_two(self, earlier: Token) -> None:
        """Step back by two; the last one is still in the window."""
        self._window[1] = earlier
        self._ahead = 2

    def back_up_three(self, earliest: Token, earlier: Token) -> None:
        """Step back by three; the last one is still in the window."""
        self._window[1] = earlier
        self._window[2] = earliest
        self._ahead = 3

    def next_word(self) -> Token:
        """The next token that is not space."""
        token = self.next()
        while token.kind == kinds.SPACE:
            token = self.next()
        return token

    def peek_word(self) -> Token:
        """The next token that is not space, left where it is; the space is gone."""
        token = self.next_word()
        self.back_up()
        return token

    def expect(self, kind: str, context: str) -> Token:
        """The next word, which must be of a kind."""
        token = self.next_word()
        if token.kind != kind:
            raise self.unexpected(token, context)
        return token

    def unquoted(self, token: Token) -> str:
        """What a string token says."""
        try:
            return unquote(token.text)
        except LiteralError as error:
            raise self.error(str(error)) from None

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Count nesting while something inside is read."""
        if self._depth >= MAX_NESTING:
            raise self.error("max expression depth exceeded")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def error(self, message: str) -> ParseError:
        """A ParseError with the line of the last token."""
        return ParseError(f"template: {self.source.name}:{self._window[0].line}: {message}")

    def unexpected(self, token: Token, context: str) -> ParseError:
        """A ParseError about a token, or the error of the lexer."""
        if token.kind != kinds.ERROR:
            return self.error(f"unexpected {token} in {context}")
        extra = ""
        if self.action_line and self.action_line != token.line:
            started = f" started at {self.source.name}:{self.action_line}"
            extra = started if token.text.endswith(" action") else f" in action{started}"
        return self.error(f"{token}{extra}")
