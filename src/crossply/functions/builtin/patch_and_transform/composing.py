"""One run of a plan: from a request to a response.

What has to stop the run is raised as Fatal; the answer to that passes on the desired state and the context
exactly as they came, with the results so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
from crossply.functions.reply_limits import (
    UNMEASURED,
    LimitExceeded,
    TooMuchAtOnce,
    check_deadline,
    check_reply,
    copy_size,
    current_limits,
)
from crossply.values import Object
from crossply.values.deepcopy import deepcopy
from crossply.values.goquote import quote

_NO_RESOURCE = Resource({})


class Run:
    """What a run has at hand and what it has made so far."""

    __slots__ = (
        "_copies",
        "_limits",
        "added",
        "composite",
        "desired",
        "details",
        "environment",
        "measure_at",
        "observed",
        "results",
        "skipped",
        "xr",
        "xr_size",
    )

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
        self._limits = current_limits()
        self._copies = 0
        self.xr_size = 0
        """The size of the XR, which no part of it exceeds; 0 where it is large, or was not needed yet."""
        self.added = plan.size
        """How many bytes were added to the desired state, at most."""
        self.measure_at = UNMEASURED
        """At how many bytes to call `measure`."""

    def warn(self, message: str) -> None:
        """Report something that does not stop the run."""
        self.results.append(Result(SEVERITY_WARNING, message, None, TARGET_COMPOSITE))

    def copied(self, value: Any) -> int:
        """The size of a list or map that was copied."""
        self._copies += 1
        if self._copies == _MANY_COPIES:
            size = copy_size(self.xr)
            self.xr_size = size if size <= _SMALL_XR else 0
        return copy_size(value)

    def add(self, size: int, name: str = "", unfinished: Object | None = None) -> None:
        """Count bytes that were added, perhaps to a resource that is not finished; raises LimitExceeded."""
        self.added += size
        if self.added > self.measure_at:
            self.measure(name, unfinished)
        check_deadline(self._limits)

    def measure(self, name: str = "", unfinished: Object | None = None) -> None:
        """Raise LimitExceeded where what was made is too large."""
        if self._limits.in_event_loop:
            raise TooMuchAtOnce
        check_deadline(self._limits)
        limit = self._limits.reply
        resources = self.desired if unfinished is None else {**self.desired, name: Resource(unfinished)}
        size = check_reply(State(Resource(self.composite), resources), self.environment, limit)
        # Values replace one another, so this may be far below the limit still; measure seldom.
        self.measure_at = self.added + max(limit - size, limit // 4)


_SMALL_XR = 16 << 10
_MANY_COPIES = 8
"""From how many copies on the size of the XR stands for that of its parts: it takes longer to measure."""

Render = Callable[[Run, Template], None]
"""Compose one resource of a run."""


def compose(request: Request, plan: Plan | str, render: Render) -> Response:
    """Run a plan, or report why there is none."""
    if isinstance(plan, str):
        return _stopped(request, [], plan)
    run = Run(plan, request)
    try:
        if plan.size > UNMEASURED:
            run.measure()
        if plan.environment:
            _patch_environment(run, plan)
        for template in plan.templates:
            render(run, template)
        if run.details and is_modern(run.xr):
            _add_connection_secret(run, plan)
        if run.added > UNMEASURED:
            run.measure()
    except (Fatal, LimitExceeded) as reason:
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
            written = patch.apply(sources[patch.source], targets[patch.target])  # type: ignore[arg-type]
        except REASONS as reason:
            if is_not_found(reason) and patch.policy == "Optional":
                continue
            raise Fatal(
                f"cannot apply the {quote(patch.type)} environment patch at index {index}: {reason}"
            ) from None
        run.add(copy_size(written))


def _add_connection_secret(run: Run, plan: Plan) -> None:
    details: Mapping[str, bytes] = run.details
    try:
        secret = compose_secret(run.xr, details, plan.secret)
    except Failure as reason:
        raise Fatal(str(reason)) from None
    run.desired[f"{metadata_text(run.xr, 'name')}-connection-secret"] = secret
