"""The parser of pipelines: `$x := f .a (g 1) | h`. See `parser`."""

from __future__ import annotations

from collections.abc import Container

from crossply.functions.builtin.go_templating.engine import lexer as kinds
from crossply.functions.builtin.go_templating.engine.lexer import Token
from crossply.functions.builtin.go_templating.engine.literals import (
    LiteralError,
    Number,
    read_complex,
    read_number,
    read_rune,
)
from crossply.functions.builtin.go_templating.engine.nodes import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    NumberNode,
    Operand,
    Pipe,
    String,
    Variable,
)
from crossply.functions.builtin.go_templating.engine.token_stream import Tokens
from crossply.values.goquote import quote

_OPERANDS = frozenset(
    (
        kinds.BOOL,
        kinds.RUNE,
        kinds.COMPLEX,
        kinds.DOT,
        kinds.FIELD,
        kinds.IDENTIFIER,
        kinds.NUMBER,
        kinds.NIL,
        kinds.RAW,
        kinds.STRING,
        kinds.VARIABLE,
        kinds.LPAREN,
    )
)
_NUMBERS = {kinds.RUNE: read_rune, kinds.COMPLEX: read_complex, kinds.NUMBER: read_number}


class PipelineParser:
    """Reads the pipelines of one template, and knows its variables."""

    __slots__ = ("_functions", "_known", "_tokens", "_variables")

    def __init__(self, tokens: Tokens, functions: Container[str]) -> None:
        self._tokens = tokens
        self._functions = functions
        self._variables = ["$"]
        self._known = {"$": 1}

    def scope(self) -> int:
        """How many variables are known now, for `leave`."""
        return len(self._variables)

    def leave(self, known: int) -> None:
        """Forget the variables that were declared since."""
        for name in self._variables[known:]:
            self._known[name] -= 1
        del self._variables[known:]

    def read(self, context: str, end: str) -> Pipe:
        """Read a pipeline up to a token of the kind `end`."""
        start = self._tokens.peek_word().at
        declared, is_assignment = self._declarations(context)
        commands: list[Command] = []
        while True:
            token = self._tokens.next_word()
            if token.kind == end:
                self._check(commands, context)
                return Pipe(start, tuple(commands), tuple(declared), is_assignment)
            if token.kind not in _OPERANDS:
                raise self._tokens.unexpected(token, context)
            self._tokens.back_up()
            commands.append(self._command())

    def _check(self, commands: list[Command], context: str) -> None:
        if not commands:
            raise self._tokens.error(f"missing value for {context}")
        for stage, command in enumerate(commands[1:], 2):
            if isinstance(command.args[0], Bool | Dot | Nil | NumberNode | String):
                raise self._tokens.error(f"non executable command in pipeline stage {stage}")

    def _declarations(self, context: str) -> tuple[list[Variable], bool]:
        """The variables before `:=` or `=`, and whether it is `=`."""
        tokens = self._tokens
        declared: list[Variable] = []
        while tokens.peek_word().kind == kinds.VARIABLE:
            variable = tokens.next()
            after = tokens.peek()
            next_token = tokens.peek_word()
            if next_token.kind in (kinds.ASSIGN, kinds.DECLARE):
                tokens.next_word()
                self._declare(declared, variable)
                return declared, next_token.kind == kinds.ASSIGN
            if next_token.kind == kinds.CHAR and next_token.text == ",":
                tokens.next_word()
                self._declare(declared, variable)
                self._check_more(context, len(declared))
                continue
            if after.kind == kinds.SPACE:
                tokens.back_up_three(variable, after)
            else:
                tokens.back_up_two(variable)
            break
        return declared, False

    def _declare(self, declared: list[Variable], token: Token) -> None:
        declared.append(Variable(token.at, (token.text,)))
        self._variables.append(token.text)
        self._known[token.text] = self._known.get(token.text, 0) + 1

    def _check_more(self, context: str, count: int) -> None:
        if context != "range" or count > 1:
            raise self._tokens.error(f"too many declarations in {context}")
        if self._tokens.peek_word().kind not in (kinds.VARIABLE, kinds.RIGHT, kinds.RPAREN):
            raise self._tokens.error("range can only initialize variables")

    def _command(self) -> Command:
        """Operands with space between them, up to a pipe or the end."""
        start = self._tokens.peek_word().at
        args: list[Operand] = []
        while True:
            self._tokens.peek_word()
            operand = self._operand()
            if operand is not None:
                args.append(operand)
            token = self._tokens.next()
            if token.kind == kinds.SPACE:
                continue
            if token.kind in (kinds.RIGHT, kinds.RPAREN):
                self._tokens.back_up()
            elif token.kind != kinds.PIPE:
                raise self._tokens.unexpected(token, "operand")
            break
        if not args:
            raise self._tokens.error("empty command")
        return Command(start, tuple(args))

    def _operand(self) -> Operand | None:
        """A term, possibly followed by fields."""
        node = self._term()
        first = self._tokens.peek()
        if node is None or first.kind != kinds.FIELD:
            return node
        names: list[str] = []
        while self._tokens.peek().kind == kinds.FIELD:
            names.append(self._tokens.next().text[1:])
        if isinstance(node, Field):
            return Field(first.at, (*node.names, *names))
        if isinstance(node, Variable):
            return Variable(first.at, (*node.names, *names))
        if isinstance(node, Bool | String | NumberNode | Nil | Dot):
            raise self._tokens.error(f"unexpected . after term {quote(str(node))}")
        return Chain(first.at, node, tuple(names))

    def _term(self) -> Operand | None:
        token = self._tokens.next_word()
        kind, at = token.kind, token.at
        if kind == kinds.FIELD:
            return Field(at, (token.text[1:],))
        if kind == kinds.IDENTIFIER:
            if token.text not in self._functions:
                raise self._tokens.error(f"function {quote(token.text)} not defined")
            return Identifier(at, token.text)
        if kind == kinds.VARIABLE:
            if not self._known.get(token.text):
                raise self._tokens.error(f"undefined variable {quote(token.text)}")
            return Variable(at, (token.text,))
        if kind in (kinds.STRING, kinds.RAW):
            return String(at, token.text, self._tokens.unquoted(token))
        if kind == kinds.LPAREN:
            with self._tokens.nested():
                return self.read("parenthesized pipeline", kinds.RPAREN)
        return self._constant(token)

    def _constant(self, token: Token) -> Operand | None:
        kind, at = token.kind, token.at
        if kind == kinds.DOT:
            return Dot(at)
        if kind == kinds.NIL:
            return Nil(at)
        if kind == kinds.BOOL:
            return Bool(at, token.text == "true")
        if kind in _NUMBERS:
            return NumberNode(at, self._number(token))
        self._tokens.back_up()
        return None

    def _number(self, token: Token) -> Number:
        try:
            return _NUMBERS[token.kind](token.text)
        except LiteralError as error:
            raise self._tokens.error(str(error)) from None
