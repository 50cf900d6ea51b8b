"""function-cel-filter as its makers publish it, and validations in the same language.

A filter names desired resources by a pattern; where its expression is false, they are removed. A validation
is an expression that must be true: of the request, or of each desired resource that its pattern names.
"""

from __future__ import annotations

from time import monotonic
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
from crossply.functions.builtin.cel_filter import BOOL, STRING
from crossply.functions.builtin.cel_filter.expressions import ExpressionError, Question, answers
from crossply.functions.builtin.input_decoder import OBJECT, InputError, array, decode, struct, text
from crossply.functions.builtin.sandbox.limits import SECONDS
from crossply.values import Object
from crossply.values.goquote import quote
from crossply.values.regexp import RegexpError, compile_go

_SEVERITIES = {"Fatal": SEVERITY_FATAL, "Warning": SEVERITY_WARNING}


class _StepError(Exception):
    """The step is wrong: it becomes a fatal result."""


def run(request: Request) -> Response:
    """Remove what the filters remove, and say what the validations find."""
    try:
        step = _Step(request, read_input(request))
    except InputError as error:
        return fatal(request, f"cannot get filters from *v1.RunFunctionRequest: {error}")
    except _StepError as error:
        return fatal(request, str(error))
    try:
        return step.answer()
    except _StepError as error:
        return fatal(request, str(error))


class _Step:
    """The filters and validations of one step. All its expressions are one program, and asked at once."""

    def __init__(self, request: Request, given: Object) -> None:
        self._request = request
        self._filters: list[Object] = given.get("filters", [])
        self._validations: list[Object] = given.get("validations", [])
        self._patterns = [
            _pattern(each.get("name", ""), "filter", index) for index, each in enumerate(self._filters)
        ]
        self._asked = [
            (index, Question(validation.get("expression", ""), about))
            for index, validation in enumerate(self._validations)
            for about in _about(request, validation, index)
        ]
        texts = [each.get("expression", "") for each in (*self._filters, *self._validations)]
        told = [each["messageExpression"] for each in self._validations if "messageExpression" in each]
        self._program = [*((text, BOOL) for text in texts), *((text, STRING) for text in told)]

    def answer(self) -> Response:
        """What the expressions say."""
        filtering = [Question(each.get("expression", "")) for each in self._filters]
        values = self._values([*filtering, *(question for _, question in self._asked)])
        desired = self._filtered(values[: len(filtering)])
        results = self._findings(values[len(filtering) :])
        return respond(self._request, desired=desired, results=tuple(results))

    def _filtered(self, values: list[Any]) -> State:
        """The desired state without the resources that a filter removes."""
        removing = []
        for index, value in enumerate(values):
            if isinstance(value, ExpressionError):
                raise _unanswered(self._filters[index].get("expression", ""), "filter", index, value)
            if not value:
                removing.append(self._patterns[index])
        desired = self._request.desired
        kept = {
            name: resource
            for name, resource in desired.resources.items()
            if not any(pattern.search(name) for pattern in removing)
        }
        return State(desired.composite, kept)

    def _findings(self, values: list[Any]) -> list[Result]:
        """What the validations find wrong."""
        failed = []
        for (index, question), value in zip(self._asked, values, strict=True):
            if isinstance(value, ExpressionError):
                raise _unanswered(question.expression, "validation", index, value)
            if not value:
                failed.append((self._validations[index], question))
        asking = [
            Question(validation["messageExpression"], question.about, STRING)
            for validation, question in failed
            if "messageExpression" in validation
        ]
        texts = iter(self._values(asking))
        return [
            _result(validation, question, next(texts) if "messageExpression" in validation else None)
            for validation, question in failed
        ]

    def _values(self, questions: list[Question]) -> list[Any]:
        if not questions:
            return []
        try:
            return answers(self._request, questions, self._program)
        except ExpressionError as error:
            return self._up_to_the_broken_one(questions, error)

    def _up_to_the_broken_one(self, questions: list[Question], error: ExpressionError) -> list[Any]:
        """Ask one after the other, to find the expression that breaks; those after it are left out."""
        end = monotonic() + SECONDS
        values: list[Any] = []
        for question in questions:
            if monotonic() > end:
                break
            try:
                values += answers(self._request, [question], [(question.expression, question.kind)])
            except ExpressionError as problem:
                return [*values, problem, *[True] * (len(questions) - len(values) - 1)]
        raise _StepError(f"cannot evaluate CEL expressions: {error}")


def _about(request: Request, validation: Object, index: int) -> list[str | None]:
    """The desired resources that a validation is asked about; without a pattern, the request as a whole."""
    if validation.get("severity", "Fatal") not in _SEVERITIES:
        raise _StepError(f"severity of validation {index} must be one of {', '.join(_SEVERITIES)}")
    if "name" not in validation:
        return [None]
    pattern = _pattern(validation["name"], "validation", index)
    return [name for name in sorted(request.desired.resources) if pattern.search(name)]


def _result(validation: Object, question: Question, text: Any) -> Result:
    severity = _SEVERITIES[validation.get("severity", "Fatal")]
    return Result(severity, _message(validation, question, text), None, TARGET_COMPOSITE)


def _message(validation: Object, question: Question, text: Any) -> str:
    said = text if isinstance(text, str) and text else validation.get("message")
    story = said or f"failed validation: {question.expression}"
    return story if question.about is None else f"resource {quote(question.about)}: {story}"


def _pattern(name: str, what: str, index: int) -> Any:
    expression = f"^{name}$"
    try:
        return compile_go(expression)
    except RegexpError as error:
        story = f"cannot compile regular expression {quote(expression)} for {what} {index}"
        raise _StepError(f"{story}: {error}") from None


def _unanswered(expression: str, what: str, index: int, error: ExpressionError) -> _StepError:
    return _StepError(f"cannot evaluate CEL expression {quote(expression)} for {what} {index}: {error}")


__all__ = ["InputError", "read_input"]

_FILTER = struct("v1beta1.Filter", {"name": text(), "expression": text()})
_VALIDATION = struct(
    "v1beta1.Validation",
    {
        "name": text(),
        "expression": text(),
        "message": text(),
        "messageExpression": text(),
        "severity": text("v1beta1.Severity"),
    },
)
_GO_TYPE = "v1beta1.Filters"
_SHAPE = struct(
    _GO_TYPE,
    {
        **OBJECT,
        "filters": array("[]v1beta1.Filter", _FILTER, {}),
        "validations": array("[]v1beta1.Validation", _VALIDATION, {}),
    },
)


def read_input(request: Request) -> Object:
    """The function's input; InputError says what is wrong with it."""
    return decode(request, _SHAPE, _GO_TYPE)
