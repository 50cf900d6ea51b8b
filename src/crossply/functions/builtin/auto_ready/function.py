"""function-auto-ready: mark composed resources as ready, unless an earlier step decided.

It is the last step of most pipelines. A desired resource is ready when it exists and is healthy: by the rules
of its kind where Kubernetes has some, otherwise by its `Ready` condition (see `health`). Any other resource
stays undecided, which the engine reads as not ready.

Modules that a first render does not need are imported lazily: nothing exists yet, and most steps have no
input.
"""

from __future__ import annotations

from crossply.compose.function_messages import (
    READY_TRUE,
    READY_UNSPECIFIED,
    Request,
    Resource,
    Response,
    State,
    fatal,
    respond,
)


def run(request: Request) -> Response:
    """Mark desired resources that exist and are healthy as ready."""
    desired = with_readiness(request.desired, request.observed)
    if not request.input:
        return respond(request, desired=desired)
    from crossply.functions.builtin.auto_ready.input import InputError, read_input, time_to_live

    try:
        return respond(request, desired=desired, ttl=time_to_live(read_input(request)))
    except InputError as error:
        return fatal(request, str(error))


def with_readiness(desired: State, observed: State) -> State:
    """The desired state with each undecided resource that is ready marked as such."""
    existing = observed.resources
    if not existing:
        return desired
    from crossply.functions.builtin.auto_ready.health import is_ready

    ready = {}
    for name, resource in desired.resources.items():
        if resource.ready == READY_UNSPECIFIED and name in existing and is_ready(existing[name].object):
            ready[name] = Resource(
                resource.object, resource.connection_details, READY_TRUE, resource.snapshot
            )
    return State(desired.composite, {**desired.resources, **ready}) if ready else desired
