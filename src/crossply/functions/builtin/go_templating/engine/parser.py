"""The parser of Go's text/template: tokens to trees, with Go's errors.

Functions and variables must be known at parse time, as in Go, so a misspelt name is found before anything
is rendered. Statements are parsed here, pipelines in `pipeline_parser`.
"""

from __future__ import annotations

from collections.abc import Container

from crossply.functions.builtin.go_templating.engine import lexer as kinds
from crossply.functions.builtin.go_templating.engine.errors import ParseError
from crossply.functions.builtin.go_templating.engine.nodes import (
    Action,
    Body,
    Branch,
    Call,
    Ending,
    Jump,
    Pipe,
    Source,
    Statement,
    Text,
    Tree,
)
from crossply.functions.builtin.go_templating.engine.pipeline_parser import PipelineParser
from crossply.functions.builtin.go_templating.engine.token_stream import Tokens
from crossply.values.goquote import quote

_SPACE = " \t\n\v\f\r\x85\xa0"
_BRANCHES = ("if", "range", "with")


def parse(source: Source, left: str, right: str, functions: Container[str]) -> dict[str, Tree]:
    """Read a text into its templates by name; the text itself is the one named as its source."""
    trees: dict[str, Tree] = {}
    tokens = Tokens(source, left or "{{", right or "}}")
    _TreeParser(tokens, functions, trees).parse(source.name)
    return trees


class _TreeParser:
    """Reads one template; a definition inside it has a parser of its own, on the same tokens."""

    __slots__ = ("_functions", "_pipelines", "_range_depth", "_tokens", "_trees")

    def __init__(self, tokens: Tokens, functions: Container[str], trees: dict[str, Tree]) -> None:
        self._tokens = tokens
        self._functions = functions
        self._trees = trees
        self._pipelines = PipelineParser(tokens, functions)
        self._range_depth = 0

    def parse(self, name: str) -> None:
        """Read to the end."""
        body: list[Statement] = []
        while self._tokens.peek().kind != kinds.EOF:
            if not self._definition():
                statement = self._statement()
                if isinstance(statement, Ending):
                    raise self._tokens.error(f"unexpected {statement}")
                body.append(statement)
        self._add(name, tuple(body))

    def _inner(self) -> _TreeParser:
        return _TreeParser(self._tokens, self._functions, self._trees)

    def _add(self, name: str, body: Body) -> None:
        """Keep a template. A name may come again, as long as only one of them says something."""
        known = self._trees.get(name)
        if known is None or _is_empty(known.body):
            self._trees[name] = Tree(name, body, self._tokens.source)
        elif not _is_empty(body):
            raise self._tokens.error(f"template: multiple definition of template {quote(name)}")

    def _definition(self) -> bool:
        """Read a `define`, if one stands here."""
        tokens = self._tokens
        if tokens.peek().kind != kinds.LEFT:
            return False
        delimiter = tokens.next()
        if tokens.next_word().kind != "define":
            tokens.back_up_two(delimiter)
            return False
        self._inner().define()
        return True

    def define(self) -> None:
        """Read a definition whose keyword is read already."""
        name = self._template_name("define clause")
        self._tokens.expect(kinds.RIGHT, "define clause")
        self._add(name, self._body_until_end("define clause"))

    def _body_until_end(self, context: str) -> Body:
        body, ending = self._body()
        if ending.kind != "end":
            raise self._tokens.error(f"unexpected {ending} in {context}")
        return body

    def _body(self) -> tuple[Body, Ending]:
        """Statements up to `end` or `else`."""
        body: list[Statement] = []
        self._tokens.peek_word()
        while self._tokens.peek_word().kind != kinds.EOF:
            statement = self._statement()
            if isinstance(statement, Ending):
                return tuple(body), statement
            body.append(statement)
        raise self._tokens.error("unexpected EOF")

    def _statement(self) -> Statement | Ending:
        token = self._tokens.next_word()
        if token.kind == kinds.TEXT:
            return Text(token.at, token.text)
        if token.kind != kinds.LEFT:
            raise self._tokens.unexpected(token, "input")
        self._tokens.action_line = token.line
        try:
            with self._tokens.nested():
                return self._action()
        finally:
            self._tokens.action_line = 0

    def _action(self) -> Statement | Ending:
        token = self._tokens.next_word()
        kind = token.kind
        if kind in _BRANCHES:
            return self._branch(kind)
        if kind in ("break", "continue"):
            return self._jump(kind, token.at)
        if kind == "else":
            return self._else()
        if kind == "end":
            return Ending(self._tokens.expect(kinds.RIGHT, "end").at, "end")
        if kind == "template":
            return self._call()
        if kind == "block":
            return self._block()
        self._tokens.back_up()
        first = self._tokens.peek()
        return Action(first.at, self._pipelines.read("command", kinds.RIGHT))

    def _jump(self, kind: str, at: int) -> Jump:
        token = self._tokens.next_word()
        if token.kind != kinds.RIGHT:
            raise self._tokens.unexpected(token, f"{{{{{kind}}}}}")
        if not self._range_depth:
            raise self._tokens.error(f"{{{{{kind}}}}} outside {{{{range}}}}")
        return Jump(at, kind)

    def _else(self) -> Ending:
        next_token = self._tokens.peek_word()
        if next_token.kind in ("if", "with"):
            return Ending(next_token.at, "else")
        return Ending(self._tokens.expect(kinds.RIGHT, "else").at, "else")

    def _branch(self, kind: str) -> Branch:
        """A branch with all its `else if`: those are read in a loop, there may be hundreds."""
        known = self._pipelines.scope()
        conditions: list[tuple[Pipe, Body]] = []
        otherwise: Body | None = None
        while True:
            pipe = self._pipelines.read(kind, kinds.RIGHT)
            body, ending = self._branch_body(kind)
            conditions.append((pipe, body))
            if ending.kind == "end":
                break
            if kind in ("if", "with") and self._tokens.peek().kind == kind:
                self._tokens.next()
                continue
            otherwise, ending = self._body()
            if ending.kind != "end":
                raise self._tokens.error(f"expected end; found {ending}")
            break
        self._pipelines.leave(known)
        return _chained(kind, conditions, otherwise)

    def _branch_body(self, kind: str) -> tuple[Body, Ending]:
        if kind != "range":
            return self._body()
        self._range_depth += 1
        body = self._body()
        self._range_depth -= 1
        return body

    def _call(self) -> Call:
        at, name = self._named("template clause")
        if self._tokens.next_word().kind == kinds.RIGHT:
            return Call(at, name, None)
        self._tokens.back_up()
        return Call(at, name, self._pipelines.read("template clause", kinds.RIGHT))

    def _block(self) -> Call:
        """A block is a definition and its first use."""
        at, name = self._named("block clause")
        pipe = self._pipelines.read("block clause", kinds.RIGHT)
        inner = self._inner()
        inner._add(name, inner._body_until_end("block clause"))
        return Call(at, name, pipe)

    def _named(self, context: str) -> tuple[int, str]:
        at = self._tokens.peek_word().at
        return at, self._template_name(context)

    def _template_name(self, context: str) -> str:
        token = self._tokens.next_word()
        if token.kind not in (kinds.STRING, kinds.RAW):
            raise self._tokens.unexpected(token, context)
        return self._tokens.unquoted(token)


def _chained(kind: str, conditions: list[tuple[Pipe, Body]], otherwise: Body | None) -> Branch:
    """Each further condition is a branch of its own, in the `else` of the one before."""
    for pipe, body in reversed(conditions[1:]):
        otherwise = (Branch(pipe.at, kind, pipe, body, otherwise),)
    pipe, body = conditions[0]
    return Branch(pipe.at, kind, pipe, body, otherwise)


def _is_empty(body: Body) -> bool:
    return all(isinstance(statement, Text) and not statement.text.strip(_SPACE) for statement in body)


__all__ = ["ParseError", "parse"]
