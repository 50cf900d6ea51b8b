"""auto-ready: say which composed resources are ready, when no step before has said so.

It is the last step of most pipelines. A desired resource is ready when it exists and is healthy: by the
rules of its kind where Kubernetes has some (`auto_ready_health`), otherwise by its `Ready` condition
(`auto_ready_conditions`). A resource that is neither stays undecided; the engine reads that as not ready.
"""

from __future__ import annotations

from crossply.compose.messages import (
    READY_TRUE,
    READY_UNSPECIFIED,
    SECOND,
    Request,
    Resource,
    Response,
    State,
    fatal,
    respond,
)
from crossply.functions.builtin.auto_ready_conditions import has_ready_condition
from crossply.functions.builtin.auto_ready_health import health_check
from crossply.functions.builtin.input_decoding import OBJECT, InputError, decode, struct, text
from crossply.values import Object

GO_TYPE = "v1beta1.Input"
MINUTE = 60 * SECOND

_INPUT = struct(GO_TYPE, {**OBJECT, "ttl": text(), "celHealthCheckCustomizationFrom": text()})


def run(request: Request) -> Response:
    """Mark the desired resources that exist and are healthy as ready."""
    ttl = MINUTE
    if request.input:
        try:
            ttl = time_to_live(read_input(request))
        except InputError as error:
            return fatal(request, f"invalid input: {error}")
    return respond(request, desired=with_readiness(request.desired, request.observed), ttl=ttl)


def read_input(request: Request) -> Object:
    """The function's input."""
    return decode(request, _INPUT, GO_TYPE)


def time_to_live(given: Object) -> int:
    """How long the answer may be reused: what the input says, or a minute."""
    duration = given.get("ttl")
    if not duration:
        return MINUTE
    from crossply.kinds.durations import parse_duration

    try:
        return parse_duration(duration)
    except ValueError as error:
        raise InputError(f"cannot parse ttl: {error}") from None


def with_readiness(desired: State, observed: State) -> State:
    """The desired state with every undecided resource that turns out to be ready marked so."""
    existing = observed.resources
    ready = {}
    for name, resource in desired.resources.items():
        if resource.ready == READY_UNSPECIFIED and name in existing and is_ready(existing[name].object):
            ready[name] = Resource(
                resource.object, resource.connection_details, READY_TRUE, resource.snapshot
            )
    if not ready:
        return desired
    return State(desired.composite, {**desired.resources, **ready})


def is_ready(observed: Object) -> bool:
    """Whether an object passes the check of its kind, or has the condition `Ready: True`."""
    check = health_check(observed)
    return (check is not None and check(observed)) or has_ready_condition(observed)
