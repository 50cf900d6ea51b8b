"""function-go-templating as its makers publish it: render templates, read manifests, update desired state."""

from __future__ import annotations

import os

from crossply.compose.messages import (
    SEVERITY_FATAL,
    TARGET_COMPOSITE,
    Request,
    Response,
    Result,
    fatal,
    respond,
)
from crossply.functions.builtin.go_templating import extra_context, meta_kinds
from crossply.functions.builtin.go_templating.data import data_of
from crossply.functions.builtin.go_templating.errors import ExecError, OptionError, ParseError
from crossply.functions.builtin.go_templating.input import Input, InputError, read_input, ttl_of_composite
from crossply.functions.builtin.go_templating.manifests import ManifestError, read_manifests
from crossply.functions.builtin.go_templating.outcome import Outcome, OutcomeError
from crossply.functions.builtin.go_templating.program import compile_text
from crossply.functions.builtin.go_templating.sources import SourceError, template_text
from crossply.values import Object


def run(request: Request) -> Response:
    """Compose what the step's templates say."""
    try:
        given = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    try:
        manifests = read_manifests(_rendered(request, given))
    except SourceError as error:
        return fatal(request, f"invalid function input: {error}", ttl=given.ttl)
    except ParseError as error:
        story = "invalid function input: cannot parse the provided templates"
        return fatal(request, f"{story}: {error}", ttl=given.ttl)
    except OptionError as error:
        story = "cannot apply template options: panic occurred while applying template options"
        return fatal(request, f"{story}: {error}", ttl=given.ttl)
    except ExecError as error:
        return fatal(request, f"cannot execute template: {error}", ttl=given.ttl)
    except ManifestError as error:
        return fatal(request, str(error), ttl=given.ttl)
    return _answer(request, manifests, ttl_of_composite(request, given.ttl))


def _rendered(request: Request, given: Input) -> str:
    text = template_text(request, given, os.environ)
    program = compile_text(text, *given.delimiters)
    return program.render(data_of(request), given.options)


def _answer(request: Request, manifests: list[Object], ttl: int) -> Response:
    outcome = Outcome(request)
    try:
        for manifest in manifests:
            if manifest.get("apiVersion") != meta_kinds.META_VERSION or outcome.is_status(manifest):
                outcome.add(manifest)
            else:
                meta_kinds.apply(manifest, outcome)
    except OutcomeError as error:
        result = Result(SEVERITY_FATAL, str(error), None, TARGET_COMPOSITE)
        conditions = tuple(outcome.conditions)
        return respond(request, ttl=ttl, context=outcome.context, conditions=conditions, results=(result,))
    return respond(
        request,
        ttl=ttl,
        desired=outcome.desired(),
        context=extra_context.with_extra_resources(outcome),
        conditions=tuple(outcome.conditions),
        requirements=outcome.requirements(),
    )
