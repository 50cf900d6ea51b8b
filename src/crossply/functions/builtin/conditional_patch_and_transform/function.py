"""The entry point of function-conditional-patch-and-transform.

The input is that of function-patch-and-transform, with conditions. It may say
`conditional-pt.fn.crossplane.io/v1beta1`, as the function documents, or `pt.fn.crossplane.io/v1beta1`.
All conditions of an input are evaluated together, in one sandboxed process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.compose.function_messages import Request, Response, fatal, respond
from crossply.functions.builtin.cel_filter import TEMPLATE_CONDITION
from crossply.functions.builtin.cel_filter.expressions import ExpressionError, Question, values_until_failure
from crossply.functions.builtin.patch_and_transform import function as patch_and_transform
from crossply.functions.builtin.patch_and_transform.compiled_input import CompiledTemplate
from crossply.functions.builtin.patch_and_transform.compiled_input_cache import CompiledInputCache
from crossply.functions.builtin.patch_and_transform.compiled_input_run import (
    RenderState,
    RenderTemplate,
    render_response,
)
from crossply.functions.builtin.patch_and_transform.dialect import (
    ENVIRONMENT_ROUTES,
    FROM_COMPOSITE,
    FROM_ENVIRONMENT,
    FUNCTION,
    TO_COMPOSITE,
    TO_ENVIRONMENT,
)
from crossply.functions.builtin.patch_and_transform.errors import Fatal
from crossply.functions.builtin.patch_and_transform.input_decoder import DecodeError, decode
from crossply.functions.builtin.patch_and_transform.input_schema import conditional_resources
from crossply.values import Object

CONDITIONAL = FUNCTION._replace(
    schema=conditional_resources(),
    environment_routes={
        **ENVIRONMENT_ROUTES,
        "CombineToEnvironment": (FROM_COMPOSITE, TO_ENVIRONMENT),
        "CombineFromEnvironment": (FROM_ENVIRONMENT, TO_COMPOSITE),
    },
)
"""function-patch-and-transform with conditions. The function has more types of environment patches."""

COMPILED_INPUTS = CompiledInputCache(CONDITIONAL)


def run(request: Request) -> Response:
    compiled = COMPILED_INPUTS.get(request.input)
    if isinstance(compiled, str) and not _is_decodable(request.input or {}):
        return fatal(request, compiled)
    conditions = evaluate_conditions(request)
    try:
        # An input that is not valid does no harm while its condition is false.
        if not conditions.allow_step():
            return respond(request)
    except ConditionError as error:
        return fatal(request, str(error))
    return render_response(request, compiled, conditional_renderer(conditions))


def conditional_renderer(conditions: Conditions) -> RenderTemplate:
    """Compose the resources, called in their order, whose conditions are true."""
    index = -1

    def render(state: RenderState, template: CompiledTemplate) -> None:
        nonlocal index
        index += 1
        try:
            if not conditions.allow_resource(index):
                return
        except ConditionError as error:
            raise Fatal(str(error)) from None
        patch_and_transform.render(state, template._replace(start=_without_name(template.start)))

    return render


def _without_name(start: Callable[[], Object] | None) -> Callable[[], Object] | None:
    """How a resource starts: without the name and namespace of its base, as in the published function."""
    if start is None:
        return None

    def start_without_name() -> Object:
        base = start()
        if isinstance(base.get("metadata"), dict):
            for field in ("name", "namespace"):
                base["metadata"].pop(field, None)
        return base

    return start_without_name


def _is_decodable(function_input: Object) -> bool:
    try:
        decode(function_input, CONDITIONAL.schema)
    except DecodeError:
        return False
    return True


class ConditionError(Exception):
    """A condition cannot be evaluated. It never leaves the function: it becomes a fatal result."""

    def __str__(self) -> str:
        return f"Condition error: {self.args[0]}"


class Conditions(NamedTuple):
    """The values of the conditions of one request; an ExpressionError stands for one that has none."""

    step: Any
    resources: list[Any]
    """In the order of the resources."""

    def allow_step(self) -> bool:
        """Whether the step runs; raises ConditionError."""
        return _as_boolean(self.step)

    def allow_resource(self, index: int) -> bool:
        """Whether a resource is composed; raises ConditionError."""
        return _as_boolean(self.resources[index])


def has_conditions(function_input: Object) -> bool:
    """Whether the input, or a resource in it, has a condition."""
    return any(expression is not None for expression in _expressions(function_input))


def evaluate_conditions(request: Request) -> Conditions:
    """Evaluate the conditions of the input; what has none is true."""
    expressions = _expressions(request.input or {})
    program = [(text, TEMPLATE_CONDITION) for text in expressions if text is not None]
    questions = [Question(text, kind=TEMPLATE_CONDITION) for text, _ in program]
    if not questions:
        return Conditions(True, [True] * (len(expressions) - 1))
    try:
        answers = iter(values_until_failure(request, questions, program))
    except ExpressionError as error:
        return Conditions(error, [])
    step, *resources = [True if text is None else next(answers) for text in expressions]
    return Conditions(step, resources)


def _expressions(function_input: Object) -> list[str | None]:
    """The condition of the step, and that of each resource."""
    resources = function_input.get("resources") or []
    if not isinstance(resources, list):
        resources = []
    return [_condition(function_input), *map(_condition, resources)]


def _condition(owner: Any) -> str | None:
    condition = owner.get("condition") if isinstance(owner, dict) else None
    return condition if isinstance(condition, str) else None


def _as_boolean(value: Any) -> bool:
    if isinstance(value, ExpressionError):
        raise ConditionError(str(value))
    return bool(value)
