"""function-cel-filter: filters of desired resources, and validations, in CEL.

The input is `cel.fn.crossplane.io/v1beta1`. A filter removes the desired resources that its pattern names
when its expression is false. `validations` is an addition of ours: an expression that must be true, of the
request or of each desired resource that its pattern names.
"""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import (
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
from crossply.functions.builtin.cel_filter.expressions import ExpressionError, Question, values_until_failure
from crossply.functions.builtin.input_decoder import OBJECT, InputError, array, decode, struct, text
from crossply.values import Object
from crossply.values.goquote import quote
from crossply.values.regexp import RegexpError, compile_go

_SEVERITIES = {"Fatal": SEVERITY_FATAL, "Warning": SEVERITY_WARNING}


class _StepError(Exception):
    """The step is invalid. It becomes a fatal result."""


def run(request: Request) -> Response:
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
    """The filters and validations of one step. All expressions form one program and are evaluated at once."""

    def __init__(self, request: Request, decoded: Object) -> None:
        self._request = request
        self._filters: list[Object] = decoded.get("filters", [])
        self._validations: list[Object] = decoded.get("validations", [])
        self._patterns = [
            _pattern(entry.get("name", ""), "filter", index) for index, entry in enumerate(self._filters)
        ]
        self._questions = [
            (index, Question(validation.get("expression", ""), about))
            for index, validation in enumerate(self._validations)
            for about in _resources_of(request, validation, index)
        ]
        texts = [entry.get("expression", "") for entry in (*self._filters, *self._validations)]
        message_expressions = [
            entry["messageExpression"] for entry in self._validations if "messageExpression" in entry
        ]
        self._program = [*((text, BOOL) for text in texts), *((text, STRING) for text in message_expressions)]

    def answer(self) -> Response:
        filtering = [Question(filter_.get("expression", "")) for filter_ in self._filters]
        values = self._values([*filtering, *(question for _, question in self._questions)])
        desired = self._desired_state(values[: len(filtering)])
        results = self._validation_results(values[len(filtering) :])
        return respond(self._request, desired=desired, results=tuple(results))

    def _desired_state(self, values: list[Any]) -> State:
        """The desired state without filtered resources."""
        removing = []
        for index, value in enumerate(values):
            if isinstance(value, ExpressionError):
                raise _evaluation_error(self._filters[index].get("expression", ""), "filter", index, value)
            if not value:
                removing.append(self._patterns[index])
        desired = self._request.desired
        remaining = {
            name: resource
            for name, resource in desired.resources.items()
            if not any(pattern.search(name) for pattern in removing)
        }
        return State(desired.composite, remaining)

    def _validation_results(self, values: list[Any]) -> list[Result]:
        """The results of failed validations."""
        failed = []
        for (index, question), value in zip(self._questions, values, strict=True):
            if isinstance(value, ExpressionError):
                raise _evaluation_error(question.expression, "validation", index, value)
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
        try:
            return values_until_failure(self._request, questions, self._program)
        except ExpressionError as error:
            raise _StepError(f"cannot evaluate CEL expressions: {error}") from None


def _resources_of(request: Request, validation: Object, index: int) -> list[str | None]:
    """The desired resources that a validation is about; [None] stands for the whole request."""
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
    message = text if isinstance(text, str) and text else validation.get("message")
    text_ = message or f"failed validation: {question.expression}"
    return text_ if question.about is None else f"resource {quote(question.about)}: {text_}"


def _pattern(name: str, role: str, index: int) -> Any:
    expression = f"^{name}$"
    try:
        return compile_go(expression)
    except RegexpError as error:
        message = f"cannot compile regular expression {quote(expression)} for {role} {index}"
        raise _StepError(f"{message}: {error}") from None


def _evaluation_error(expression: str, role: str, index: int, error: ExpressionError) -> _StepError:
    return _StepError(f"cannot evaluate CEL expression {quote(expression)} for {role} {index}: {error}")


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
_INPUT = struct(
    _GO_TYPE,
    {
        **OBJECT,
        "filters": array("[]v1beta1.Filter", _FILTER, {}),
        "validations": array("[]v1beta1.Validation", _VALIDATION, {}),
    },
)


def read_input(request: Request) -> Object:
    return decode(request, _INPUT, _GO_TYPE)
