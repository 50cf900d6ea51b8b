"""Expressions in templates: `${…}`, alone or inside of a text."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.functions.builtin.kro.cel.syntax_tree import Tree
from crossply.values.goquote import quote

_START = "${"


class GraphError(Exception):
    """A resource graph is invalid, or cannot be evaluated. It becomes a fatal result."""


class Expression:
    """An expression. `template` is the text that it was in, if that is more than the expression.

    `expression_references` are the variables that it uses: what is not observed of them is waited for.
    """

    __slots__ = ("evaluate", "references", "template", "text", "tree")

    def __init__(self, text: str, template: str = "") -> None:
        self.text = text
        self.template = template
        self.references: list[str] = []
        self.tree: Tree | None = None
        self.evaluate: Any = None

    @property
    def shown(self) -> str:
        """The expression as its author wrote it."""
        return self.template or self.text


class Match(NamedTuple):
    """An expression in a text: what is between `${` and `}`, and where these are."""

    text: str
    start: int
    end: int


def expressions_in(text: str) -> list[Match]:
    """All expressions in a text; raises GraphError for one inside of another."""
    matches: list[Match] = []
    at = 0
    while (start := text.find(_START, at)) >= 0:
        end = _end_of(text, start + len(_START))
        if end is None:
            at += 1  # no expression begins here, but one may begin after it
            continue
        matches.append(Match(text[start + len(_START) : end], start, end + 1))
        at = end + 1
    return matches


def _end_of(text: str, at: int) -> int | None:
    """Where the bracket that closes an expression is; brackets in texts do not count."""
    depth, in_text = 1, False
    while at < len(text):
        character = text[at]
        if in_text and character == "\\":
            at += 2
            continue
        if character == '"':
            in_text = not in_text
        elif not in_text:
            if character == "{":
                depth += 1
            elif character == "}":
                depth -= 1
                if not depth:
                    return at
            elif text.startswith(_START, at) and text[at - 1] != '"':
                raise GraphError("nested expressions are not allowed unless inside string literals")
        at += 1
    return None


def standalone(text: str) -> Expression | None:
    """The expression that a text is as a whole."""
    matches = expressions_in(text)
    if len(matches) == 1 and matches[0].start == 0 and matches[0].end == len(text):
        return Expression(matches[0].text)
    return None


def expression_of(text: str) -> Expression | None:
    """The expression of a text that is one or has some: its parts are then added up as texts."""
    alone = standalone(text)
    if alone is not None:
        return alone
    matches = expressions_in(text)
    if not matches:
        return None
    parts, at = [], 0
    for match in matches:
        if match.start > at:
            parts.append(quote(text[at : match.start]))
        parts.append(f"({match.text})")
        at = match.end
    if at < len(text):
        parts.append(quote(text[at:]))
    return Expression(" + ".join(parts), text)


def conditions(texts: list[str]) -> list[Expression]:
    """The expressions of `readyWhen`, `includeWhen` and `forEach`, which stand alone."""
    expressions = []
    for text in texts:
        expression = standalone(text)
        if expression is None:
            raise GraphError("only standalone expressions are allowed")
        expressions.append(expression)
    return expressions
