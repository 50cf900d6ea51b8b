"""function-cel-filter as its makers publish it, and validations in the same language.

A filter names desired resources by a pattern; where its expression is false, they are removed. A validation
is an expression that must be true: of the request, or of each desired resource that its pattern names.
"""

from __future__ import annotations

from typing import Any

from crossply.compose.messages import (
    SEVERITY_FATAL,
    SEVERITY_WARNING,
    TARGET_COMPOSITE,
    Request,
    Response,
    Result,
    State,
    fatal,
    respond,
)
from crossply.functions.builtin.cel_filter.expressions import ExpressionError, Question, answers
from crossply.functions.builtin.cel_filter.input import InputError, read_input
from crossply.values import Object
from crossply.values.goquote import quote
from crossply.values.regexp import RegexpError, compile_go

_SEVERITIES = {"Fatal": SEVERITY_FATAL, "Warning": SEVERITY_WARNING}


class _StepError(Exception):
    """The step is wrong: it becomes a fatal result."""


def run(request: Request) -> Response:
    """Remove what the filters remove, and say what the validations find."""
    try:
        given = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get filters from *v1.RunFunctionRequest: {error}")
    try:
        desired = filtered(request, given.get("filters", []))
        results = findings(request, given.get("validations", []))
    except _StepError as error:
        return fatal(request, str(error))
    return respond(request, desired=desired, results=tuple(results))


def filtered(request: Request, filters: list[Object]) -> State:
    """The desired state without the resources that a filter removes."""
    patterns = [_pattern(each.get("name", ""), "filter", index) for index, each in enumerate(filters)]
    values = _values(request, [Question(each.get("expression", "")) for each in filters])
    removing = []
    for index, (pattern, value) in enumerate(zip(patterns, values, strict=True)):
        if isinstance(value, ExpressionError):
            raise _unanswered(filters[index].get("expression", ""), "filter", index, value)
        if not value:
            removing.append(pattern)
    kept = {
        name: resource
        for name, resource in request.desired.resources.items()
        if not any(pattern.search(name) for pattern in removing)
    }
    return State(request.desired.composite, kept)


def findings(request: Request, validations: list[Object]) -> list[Result]:
    """What the validations find wrong."""
    asked: list[tuple[int, Question]] = []
    for index, validation in enumerate(validations):
        if validation.get("severity", "Fatal") not in _SEVERITIES:
            raise _StepError(f"severity of validation {index} must be one of Fatal, Warning")
        expression = validation.get("expression", "")
        asked += [(index, Question(expression, name)) for name in _about(request, validation, index)]
    values = _values(request, [question for _, question in asked])
    failed = []
    for (index, question), value in zip(asked, values, strict=True):
        if isinstance(value, ExpressionError):
            raise _unanswered(question.expression, "validation", index, value)
        if not value:
            failed.append((validations[index], question))
    return _told(request, failed)


def _about(request: Request, validation: Object, index: int) -> list[str | None]:
    """The desired resources that a validation is asked about; without a pattern, the request as a whole."""
    if "name" not in validation:
        return [None]
    pattern = _pattern(validation["name"], "validation", index)
    return [name for name in sorted(request.desired.resources) if pattern.search(name)]


def _told(request: Request, failed: list[tuple[Object, Question]]) -> list[Result]:
    asking = [
        Question(validation["messageExpression"], question.about, "string")
        for validation, question in failed
        if "messageExpression" in validation
    ]
    texts = iter(_values(request, asking))
    results = []
    for validation, question in failed:
        text = next(texts) if "messageExpression" in validation else None
        severity = _SEVERITIES[validation.get("severity", "Fatal")]
        results.append(Result(severity, _message(validation, question, text), None, TARGET_COMPOSITE))
    return results


def _message(validation: Object, question: Question, text: Any) -> str:
    said = text if isinstance(text, str) and text else validation.get("message")
    story = said or f"failed validation: {question.expression}"
    return story if question.about is None else f"resource {quote(question.about)}: {story}"


def _values(request: Request, questions: list[Question]) -> list[Any]:
    if not questions:
        return []
    try:
        return answers(request, questions)
    except ExpressionError as error:
        raise _StepError(f"cannot evaluate CEL expressions: {error}") from None


def _pattern(name: str, what: str, index: int) -> Any:
    expression = f"^{name}$"
    try:
        return compile_go(expression)
    except RegexpError as error:
        story = f"cannot compile regular expression {quote(expression)} for {what} {index}"
        raise _StepError(f"{story}: {error}") from None


def _unanswered(expression: str, what: str, index: int, error: ExpressionError) -> _StepError:
    return _StepError(f"cannot evaluate CEL expression {quote(expression)} for {what} {index}: {error}")
