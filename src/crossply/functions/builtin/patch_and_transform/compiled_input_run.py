"""One run of a compiled input: from a request to a response.

Fatal stops a run. The response then has the desired state and the context of the request, unchanged, and the
results so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crossply.compose.function_messages import (
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
from crossply.functions.builtin.patch_and_transform.compiled_input import CompiledInput, CompiledTemplate
from crossply.functions.builtin.patch_and_transform.connection_details import compose_secret, is_modern
from crossply.functions.builtin.patch_and_transform.dialect import TO_COMPOSITE
from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Failure, Fatal, is_not_found
from crossply.functions.builtin.patch_and_transform.object_fields import metadata_text, text_field
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


class RenderState:
    """The inputs of one run, and what it has produced so far."""

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

    def __init__(self, compiled: CompiledInput, request: Request) -> None:
        self.xr = (request.observed.composite or _NO_RESOURCE).object
        self.observed = request.observed.resources
        self.desired = dict(request.desired.resources)
        desired_xr = request.desired.composite or _NO_RESOURCE
        self.details: dict[str, bytes] = dict(desired_xr.connection_details)
        self.composite = deepcopy(desired_xr.object) if compiled.writes_composite else dict(desired_xr.object)
        # Patches require a target with a kind. The protocol allows it in the desired XR.
        self.composite["apiVersion"] = text_field(self.xr, "apiVersion")
        self.composite["kind"] = text_field(self.xr, "kind")
        self.environment = load_environment(request.context) if compiled.has_environment else {}
        self.results: list[Result] = []
        self.skipped = 0
        self._limits = current_limits()
        self._copies = 0
        self.xr_size = 0
        """The size of the XR, an upper bound for its parts; 0 when it is large or not measured yet."""
        self.added = compiled.size
        """An upper bound of the bytes added to the desired state."""
        self.measure_at = UNMEASURED
        """When `added` exceeds this, `measure` is called."""

    def warn(self, message: str) -> None:
        """Add a warning to the results."""
        self.results.append(Result(SEVERITY_WARNING, message, None, TARGET_COMPOSITE))

    def copied(self, value: Any) -> int:
        """The size of a list or map that was copied."""
        self._copies += 1
        if self._copies == _MANY_COPIES:
            size = copy_size(self.xr)
            self.xr_size = size if size <= _SMALL_XR else 0
        return copy_size(value)

    def add(self, size: int, name: str = "", unfinished: Object | None = None) -> None:
        """Count added bytes, perhaps of an unfinished resource; raise LimitExceeded above the limit."""
        self.added += size
        if self.added > self.measure_at:
            self.measure(name, unfinished)
        check_deadline(self._limits)

    def measure(self, name: str = "", unfinished: Object | None = None) -> None:
        """Measure the desired state; raise LimitExceeded when it is too large."""
        if self._limits.in_event_loop:
            raise TooMuchAtOnce
        check_deadline(self._limits)
        limit = self._limits.reply
        resources = self.desired if unfinished is None else {**self.desired, name: Resource(unfinished)}
        size = check_reply(State(Resource(self.composite), resources), self.environment, limit)
        # Values replace one another, so the size may be far below `added`. Measuring is slow: do it seldom.
        self.measure_at = self.added + max(limit - size, limit // 4)


_SMALL_XR = 16 << 10
_MANY_COPIES = 8
"""After this many copies the size of the whole XR is used for its parts: cheaper than measuring each."""

RenderTemplate = Callable[[RenderState, CompiledTemplate], None]
"""Composes one resource."""


def render_response(request: Request, compiled: CompiledInput | str, render: RenderTemplate) -> Response:
    """Run a compiled input, or report the error of an invalid one."""
    if isinstance(compiled, str):
        return _fatal_response(request, [], compiled)
    state = RenderState(compiled, request)
    try:
        if compiled.size > UNMEASURED:
            state.measure()
        if compiled.environment:
            _patch_environment(state, compiled)
        for template in compiled.templates:
            render(state, template)
        if state.details and is_modern(state.xr):
            _add_connection_secret(state, compiled)
        if state.added > UNMEASURED:
            state.measure()
    except (Fatal, LimitExceeded) as error:
        return _fatal_response(request, state.results, str(error))
    return _final_response(request, state, compiled)


def _final_response(request: Request, state: RenderState, compiled: CompiledInput) -> Response:
    ready = READY_FALSE if state.skipped else READY_UNSPECIFIED
    context = request.context
    if compiled.has_environment:
        context = with_environment(context, state.environment)
    desired = State(Resource(state.composite, state.details, ready), state.desired)
    return respond(request, desired=desired, context=context, results=tuple(state.results))


def _fatal_response(request: Request, results: list[Result], message: str) -> Response:
    last = Result(SEVERITY_FATAL, message, None, TARGET_COMPOSITE)
    return respond(request, results=(*results, last))


def _patch_environment(state: RenderState, compiled: CompiledInput) -> None:
    if compiled.reads_own_writes:
        state.xr = deepcopy(state.xr)
    sources = (state.xr, state.environment)
    targets = (None, state.composite, state.environment)
    for index, patch in enumerate(compiled.environment):
        try:
            written = patch.apply(sources[patch.source], targets[patch.target])  # type: ignore[arg-type]
            if compiled.reads_own_writes and patch.target == TO_COMPOSITE:
                patch.apply(sources[patch.source], state.xr)
        except FAILURES as error:
            if is_not_found(error) and patch.policy == "Optional":
                continue
            raise Fatal(
                f"cannot apply the {quote(patch.type)} environment patch at index {index}: {error}"
            ) from None
        state.add(copy_size(written))


def _add_connection_secret(state: RenderState, compiled: CompiledInput) -> None:
    details: Mapping[str, bytes] = state.details
    try:
        secret = compose_secret(state.xr, details, compiled.secret)
    except Failure as error:
        raise Fatal(str(error)) from None
    state.desired[f"{metadata_text(state.xr, 'name')}-connection-secret"] = secret


_ENVIRONMENT_KEY = "apiextensions.crossplane.io/environment"
"""The context key of the environment."""


def load_environment(context: Object | None) -> Object:
    """A copy of the environment in the context, with a kind."""
    desired_xr = context.get(_ENVIRONMENT_KEY) if context else None
    environment: Object = deepcopy(desired_xr) if type(desired_xr) is dict else {}
    if _is_untyped(environment):
        environment["apiVersion"] = "internal.crossplane.io/v1alpha1"
        environment["kind"] = "Environment"
    return environment


def _is_untyped(environment: Object) -> bool:
    version = text_field(environment, "apiVersion")
    if version.count("/") > 1:
        return True
    return not text_field(environment, "kind") and version in ("", "/")


def with_environment(context: Object | None, environment: Object) -> Object:
    """The context with its environment replaced."""
    return {**(context or {}), _ENVIRONMENT_KEY: environment}
