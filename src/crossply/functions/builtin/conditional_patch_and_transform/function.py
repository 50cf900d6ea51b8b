"""The entry point of function-conditional-patch-and-transform.

The input is that of function-patch-and-transform, with conditions. It may say
`conditional-pt.fn.crossplane.io/v1beta1`, as the function documents, or `pt.fn.crossplane.io/v1beta1`.
"""

from __future__ import annotations

from collections.abc import Callable

from crossply.compose.function_messages import Request, Response, fatal, respond
from crossply.functions.builtin.conditional_patch_and_transform.conditions import (
    ConditionError,
    Conditions,
    evaluate_conditions,
)
from crossply.functions.builtin.patch_and_transform import function as patch_and_transform
from crossply.functions.builtin.patch_and_transform.compiled_input import CompiledTemplate
from crossply.functions.builtin.patch_and_transform.compiled_input_cache import CompiledInputCache
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
from crossply.functions.builtin.patch_and_transform.renderer import (
    RenderState,
    RenderTemplate,
    render_response,
)
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
