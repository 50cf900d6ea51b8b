"""One run of a plan: from a request to a response.

What has to stop the run is raised as Fatal; the answer to that passes on the desired state and the context
exactly as they came, with the results so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from crossply.compose.messages import (
    READY_FALSE,
    READY_UNSPECIFIED,
    SEVERITY_FATAL,
    SEVERITY_WARNING,
    TARGET_COMPOSITE,
    Request,
    Resource,
    Response,
    Result,
    State,
    respond,
)
from crossply.functions.builtin.patch_and_transform import environment
from crossply.functions.builtin.patch_and_transform.connection_secret import compose_secret, is_modern
from crossply.functions.builtin.patch_and_transform.failure import REASONS, Failure, Fatal, is_not_found
from crossply.functions.builtin.patch_and_transform.identity import metadata_text, text_field
from crossply.functions.builtin.patch_and_transform.plan import Plan, Template
from crossply.values.deepcopy import deepcopy
from crossply.values.goquote import quote

_NO_RESOURCE = Resource({})


class Run:
    """What a run has at hand and what it has made so far."""

    __slots__ = ("composite", "desired", "details", "environment", "observed", "results", "skipped", "xr")

    def __init__(self, plan: Plan, request: Request) -> None:
        self.xr = (request.observed.composite or _NO_RESOURCE).object
        self.observed = request.observed.resources
        self.desired = dict(request.desired.resources)
        given = request.desired.composite or _NO_RESOURCE
        self.details: dict[str, bytes] = dict(given.connection_details)
        self.composite = deepcopy(given.object) if plan.writes_composite else dict(given.object)
        # Patches need the kind of what they write to; the protocol does not mind finding it there.
        self.composite["apiVersion"] = text_field(self.xr, "apiVersion")
        self.composite["kind"] = text_field(self.xr, "kind")
        self.environment = environment.load(request.context) if plan.has_environment else {}
        self.results: list[Result] = []
        self.skipped = 0

    def warn(self, message: str) -> None:
        """Report something that does not stop the run."""
        self.results.append(Result(SEVERITY_WARNING, message, None, TARGET_COMPOSITE))


Render = Callable[[Run, Template], None]
"""Compose one resource of a run."""


def compose(request: Request, plan: Plan | str, render: Render) -> Response:
    """Run a plan, or report why there is none."""
    if isinstance(plan, str):
        return _stopped(request, [], plan)
    run = Run(plan, request)
    try:
        if plan.environment:
            _patch_environment(run, plan)
        for template in plan.templates:
            render(run, template)
        if run.details and is_modern(run.xr):
            _add_connection_secret(run, plan)
    except Fatal as reason:
        return _stopped(request, run.results, str(reason))
    return _finished(request, run, plan)


def _finished(request: Request, run: Run, plan: Plan) -> Response:
    ready = READY_FALSE if run.skipped else READY_UNSPECIFIED
    context = request.context
    if plan.has_environment:
        context = environment.stored(context, run.environment)
    desired = State(Resource(run.composite, run.details, ready), run.desired)
    return respond(request, desired=desired, context=context, results=tuple(run.results))


def _stopped(request: Request, results: list[Result], message: str) -> Response:
    last = Result(SEVERITY_FATAL, message, None, TARGET_COMPOSITE)
    return respond(request, results=(*results, last))


def _patch_environment(run: Run, plan: Plan) -> None:
    sources = (run.xr, run.environment)
    targets = (None, run.composite, run.environment)
    for index, patch in enumerate(plan.environment):
        try:
            patch.apply(sources[patch.source], targets[patch.target])  # type: ignore[arg-type]
        except REASONS as reason:
            if is_not_found(reason) and patch.policy == "Optional":
                continue
            raise Fatal(
                f"cannot apply the {quote(patch.type)} environment patch at index {index}: {reason}"
            ) from None


def _add_connection_secret(run: Run, plan: Plan) -> None:
    details: Mapping[str, bytes] = run.details
    try:
        secret = compose_secret(run.xr, details, plan.secret)
    except Failure as reason:
        raise Fatal(str(reason)) from None
    run.desired[f"{metadata_text(run.xr, 'name')}-connection-secret"] = secret
