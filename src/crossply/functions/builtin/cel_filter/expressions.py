"""Evaluation of CEL expressions about a request, in a sandboxed process. A program is compiled once.

An expression sees `observed`, `desired` and `context` as the function protocol describes them. One about a
desired resource also sees `resource` and its `name`.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any, NamedTuple

from crossply.compose.function_messages import Request
from crossply.compose.wire_codec import WireError, encode_request
from crossply.functions.builtin.cel_filter import BOOL, CONDITION
from crossply.functions.builtin.sandbox.limit_constants import SECONDS
from crossply.functions.builtin.sandbox.pool import ProgramError, ask
from crossply.functions.builtin.sandbox.request_json import as_json

_LANGUAGE = "crossply.functions.builtin.cel_filter.worker"


class ExpressionError(Exception):
    """An expression cannot be evaluated. It never leaves the function: it becomes a fatal result."""


class Question(NamedTuple):
    """An expression, and the name of the desired resource that it is about, if any."""

    expression: str
    about: str | None = None
    kind: str = BOOL


def evaluate(request: Request, expressions: Sequence[str]) -> list[bool]:
    """The values of conditions; raises the ExpressionError of the first that fails."""
    values: list[bool] = []
    program = [(expression, CONDITION) for expression in expressions]
    questions = [Question(expression, kind=CONDITION) for expression in expressions]
    for value in ask_expressions(request, questions, program):
        if isinstance(value, ExpressionError):
            raise value
        values.append(value)
    return values


def values_until_failure(
    request: Request, questions: Sequence[Question], program: Sequence[tuple[str, str]]
) -> list[Any]:
    """The value of each question, or its ExpressionError. Where all of them together take too long, they are
    evaluated one by one to find the one that fails; those after it count as true.

    Raises ExpressionError where no single one is to blame.
    """
    if not questions:
        return []
    try:
        return ask_expressions(request, questions, program)
    except ExpressionError as error:
        end = monotonic() + SECONDS
        values: list[Any] = []
        for question in questions:
            if monotonic() > end:
                break
            try:
                values += ask_expressions(request, [question], [(question.expression, question.kind)])
            except ExpressionError as problem:
                return [*values, problem, *[True] * (len(questions) - len(values) - 1)]
        raise error from None


def ask_expressions(
    request: Request, questions: Sequence[Question], program: Sequence[tuple[str, str]]
) -> list[Any]:
    """The value of each question, or its ExpressionError.

    The program lists all expressions of the step with their types, so that one worker serves the step.
    """
    import orjson

    places = {expression: index for index, expression in enumerate(program)}
    indexed_questions = [
        (places[question.expression, question.kind], question.about) for question in questions
    ]
    try:
        visible = Request(request.observed, request.desired, context=request.context, tag=request.tag)
        reply = ask(_LANGUAGE, as_json(program), as_json(indexed_questions) + b"\n" + encode_request(visible))
    except (ProgramError, WireError, TypeError) as error:  # TypeError: invalid Unicode
        raise ExpressionError(str(error)) from None
    return [ExpressionError(problem) if problem else value for value, problem in orjson.loads(reply)]
