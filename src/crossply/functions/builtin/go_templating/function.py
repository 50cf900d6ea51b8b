"""function-go-templating: render the templates of the step, decode manifests, update the desired state."""

from __future__ import annotations

import os
from time import monotonic

from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    TARGET_COMPOSITE,
    Request,
    Response,
    Result,
    fatal,
    respond,
)
from crossply.functions.builtin.go_templating import meta_kinds
from crossply.functions.builtin.go_templating.engine.errors import ExecError, OptionError, ParseError
from crossply.functions.builtin.go_templating.engine.limits import MAX_SECONDS, Budget
from crossply.functions.builtin.go_templating.input import Input, InputError, read_input, ttl_of_composite
from crossply.functions.builtin.go_templating.manifests import ManifestError, read_manifests
from crossply.functions.builtin.go_templating.program import compile_text
from crossply.functions.builtin.go_templating.response_builder import (
    ManifestRefused,
    ResponseBuilder,
    with_extra_resources,
)
from crossply.functions.builtin.go_templating.template_data import data_of
from crossply.functions.builtin.go_templating.template_sources import SourceError, template_text
from crossply.functions.reply_limits import current_limits
from crossply.values import Object


def run(request: Request) -> Response:
    try:
        step_input = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    try:
        manifests = read_manifests(_rendered(request, step_input))
    except SourceError as error:
        return fatal(request, f"invalid function input: {error}", ttl=step_input.ttl)
    except ParseError as error:
        message = "invalid function input: cannot parse the provided templates"
        return fatal(request, f"{message}: {error}", ttl=step_input.ttl)
    except OptionError as error:
        message = "cannot apply template options: panic occurred while applying template options"
        return fatal(request, f"{message}: {error}", ttl=step_input.ttl)
    except ExecError as error:
        return fatal(request, f"cannot execute template: {error}", ttl=step_input.ttl)
    except ManifestError as error:
        return fatal(request, str(error), ttl=step_input.ttl)
    return _answer(request, manifests, ttl_of_composite(request, step_input.ttl))


def _rendered(request: Request, step_input: Input) -> str:
    text = template_text(request, step_input, os.environ)
    program = compile_text(text, *step_input.delimiters)
    return program.render(data_of(request), step_input.options, _budget())


def _budget() -> Budget:
    """The engine's own limit of time, or what is left of the call's where that is less."""
    return Budget(max(min(MAX_SECONDS, current_limits().deadline - monotonic()), 0.0))


def _answer(request: Request, manifests: list[Object], ttl: int) -> Response:
    outcome = ResponseBuilder(request)
    try:
        for manifest in manifests:
            if manifest.get("apiVersion") != meta_kinds.META_VERSION or outcome.is_status(manifest):
                outcome.add(manifest)
            else:
                meta_kinds.apply(manifest, outcome)
    except ManifestRefused as error:
        result = Result(SEVERITY_FATAL, str(error), None, TARGET_COMPOSITE)
        conditions = tuple(outcome.conditions)
        return respond(request, ttl=ttl, context=outcome.context, conditions=conditions, results=(result,))
    return respond(
        request,
        ttl=ttl,
        desired=outcome.desired(),
        context=with_extra_resources(outcome),
        conditions=tuple(outcome.conditions),
        requirements=outcome.requirements(),
    )
