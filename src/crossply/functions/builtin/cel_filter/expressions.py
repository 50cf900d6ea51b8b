"""Asking CEL about a request. Expressions are evaluated in a confined process, each of a set compiled once.

An expression sees `observed`, `desired` and `context` as the function protocol describes them; one that is
asked about a desired resource sees it as `resource`, and its name as `name`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from crossply.compose.messages import Request
from crossply.compose.wire import WireError, encode_request
from crossply.functions.builtin.cel_filter import BOOL, CONDITION
from crossply.functions.builtin.sandbox.pool import ProgramError, ask
from crossply.functions.builtin.sandbox.request_json import as_json

_LANGUAGE = "crossply.functions.builtin.cel_filter.worker"


class ExpressionError(Exception):
    """An expression has no value. It never leaves the function: it becomes a fatal result."""


class Question(NamedTuple):
    """An expression, and the name of the desired resource that it is asked about, if any."""

    expression: str
    about: str | None = None
    kind: str = BOOL


def evaluate(request: Request, expressions: Sequence[str]) -> list[bool]:
    """What conditions say of a request; ExpressionError of the first that says nothing."""
    values: list[bool] = []
    program = [(expression, CONDITION) for expression in expressions]
    questions = [Question(expression, kind=CONDITION) for expression in expressions]
    for value in answers(request, questions, program):
        if isinstance(value, ExpressionError):
            raise value
        values.append(value)
    return values


def answers(request: Request, questions: Sequence[Question], program: Sequence[tuple[str, str]]) -> list[Any]:
    """The value of each expression, or the ExpressionError that says why it has none.

    The program is all expressions that a step may ask, with their kinds: it has one worker, whatever it asks.
    """
    import orjson

    places = {expression: index for index, expression in enumerate(program)}
    asked = [(places[each.expression, each.kind], each.about) for each in questions]
    try:
        seen = Request(request.observed, request.desired, context=request.context, tag=request.tag)
        reply = ask(_LANGUAGE, as_json(program), as_json(asked) + b"\n" + encode_request(seen))
    except (ProgramError, WireError, TypeError) as error:  # the latter: a text that is no Unicode
        raise ExpressionError(str(error)) from None
    return [ExpressionError(problem) if problem else value for value, problem in orjson.loads(reply)]
