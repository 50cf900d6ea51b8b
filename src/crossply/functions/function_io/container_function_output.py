"""Decoding of the output of a container function into a response.

Sections that the output omits stay as they were. A list of resources replaces the whole list, and a
resource that is null is no longer desired. `config` is ignored, and `observed` is only compared with what
was sent.
"""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    READY_UNSPECIFIED,
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    SEVERITY_WARNING,
    TARGET_COMPOSITE,
    Request,
    Resource,
    Response,
    Result,
    State,
)
from crossply.errors import CrossplyError
from crossply.functions.failures import FunctionReplyDamaged
from crossply.functions.function_io.container_function_stdin import (
    API_VERSION,
    KIND,
    as_text,
    by_name,
    explicit_details,
    write_observed,
)
from crossply.functions.function_io.pipeline_context_state import RULES, PipelineState
from crossply.functions.function_io.readiness_check_and_connection_detail_rules import Rules
from crossply.functions.observed_state_check import with_warning
from crossply.kinds.fields import Fields, KindError
from crossply.values import Object
from crossply.values.protobuf_struct import to_wire
from crossply.values.yaml import load

_SEVERITIES = {
    "Fatal": SEVERITY_FATAL,
    "Error": SEVERITY_FATAL,  # the name in the first design
    "Warning": SEVERITY_WARNING,
    "Normal": SEVERITY_NORMAL,
}
_MAX_RESOURCES = 10_000


def read(data: bytes, request: Request, state: PipelineState, function: str) -> Response:
    """Decode the output of a function; raises FunctionReplyDamaged."""
    try:
        root = Fields(_load_yaml(data))
        if (root.text("apiVersion"), root.text("kind")) != (API_VERSION, KIND):
            raise root.wrong(f"must be a {KIND} of {API_VERSION}")
        response = _response(root, request, state)
        sent, returned = by_name(write_observed(request)), by_name(root.raw("observed"))
        return with_warning(response, function, sent, returned)
    except FunctionReplyDamaged:
        raise
    except CrossplyError as problem:
        raise FunctionReplyDamaged(
            f"cannot read the FunctionIO that it wrote: {problem}", hint=_HINT
        ) from None


def _load_yaml(data: bytes) -> Any:
    if not data.strip():
        raise KindError("it wrote nothing on stdout")
    return load(data)


def _response(root: Fields, request: Request, state: PipelineState) -> Response:
    desired = root.object("desired")
    entries = _entries(desired) if desired.has("resources") else None
    resources = request.desired.resources if entries is None else _resources(entries, request)
    written = state.rules if entries is None else _rules(entries)
    rules = {name: written.get(name) or {} for name in resources}
    understood = Rules(rules)
    composite = _composite(desired.object("composite"), request, state)
    observed = request.observed.resources
    details = {**understood.details(observed), **composite.connection_details}
    results = tuple(result.as_dict() for result in root.objects("results"))
    return Response(
        State(
            composite._replace(connection_details=details),
            {
                name: _with_readiness(name, result, rules[name], understood, request)
                for name, result in resources.items()
            },
        ),
        results=tuple(_result(result) for result in _new(root.objects("results"), state.results)),
        context=PipelineState(rules, results).store_in(request.context),
        tag=request,
    )


def _entries(desired: Fields) -> list[tuple[str, Fields]]:
    """The desired resources by name, except null ones."""
    listed = desired.objects("resources")
    if len(listed) > _MAX_RESOURCES:
        raise desired.wrong(f"must have at most {_MAX_RESOURCES} entries", "resources")
    names: set[str] = set()
    entries = []
    for entry in listed:
        name = entry.text("name")
        if not name or name in names:
            raise entry.wrong("must be there, and only once", "name")
        names.add(name)
        if entry.has("resource") or "resource" not in entry.as_dict():
            entries.append((name, entry))
    return entries


def _rules(entries: list[tuple[str, Fields]]) -> dict[str, Object]:
    return {name: {key: entry.raw(key) for key in RULES if entry.has(key)} for name, entry in entries}


def _resources(entries: list[tuple[str, Fields]], request: Request) -> dict[str, Resource]:
    resources = {}
    for name, entry in entries:
        written = entry.optional_dict("resource")
        before = request.desired.resources.get(name)
        if written is not None:
            resources[name] = Resource(to_wire(written), {}, before.ready if before else READY_UNSPECIFIED)
        elif before is not None:
            resources[name] = before
        else:
            raise entry.wrong("is required", "resource")
    return resources


def _with_readiness(
    name: str, resource: Resource, resource_rules: Object, rules: Rules, request: Request
) -> Resource:
    # A resource that an earlier step could not render is not ready, whatever its checks say. Without
    # checks, the readiness of an earlier step stays.
    if resource.ready == READY_FALSE or (
        resource.ready == READY_TRUE and not resource_rules.get("readinessChecks")
    ):
        return resource
    ready = rules.is_ready(name, request.observed.resources.get(name))
    return resource._replace(ready=READY_TRUE if ready else READY_UNSPECIFIED)


def _composite(written: Fields, request: Request, state: PipelineState) -> Resource:
    before = request.desired.composite or Resource({})
    explicit = explicit_details(request, state)
    obj = written.optional_dict("resource")
    if written.has("connectionDetails"):
        explicit = _explicit(written.objects("connectionDetails"), explicit)
    return Resource(before.object if obj is None else to_wire(obj), explicit, before.ready)


def _explicit(entries: list[Fields], before: dict[str, bytes]) -> dict[str, bytes]:
    details = {}
    for entry in entries:
        name, value = entry.text("name"), entry.text("value")
        if not name:
            raise entry.wrong("is required", "name")
        # Invalid UTF-8 was replaced when it was sent; the original bytes are passed on.
        same = name in before and as_text(before[name]) == value
        details[name] = before[name] if same else value.encode("utf-8", "replace")
    return details


def _new(entries: list[Fields], before: tuple[Object, ...]) -> list[Fields]:
    """The results that earlier functions did not report."""
    left = list(before)
    fresh = []
    for entry in entries:
        if entry.as_dict() in left:
            left.remove(entry.as_dict())
        else:
            fresh.append(entry)
    return fresh


def _result(entry: Fields) -> Result:
    severity = _SEVERITIES.get(entry.text("severity"))
    if severity is None:
        raise entry.wrong("must be Fatal, Warning or Normal", "severity")
    return Result(severity, entry.text("message"), None, TARGET_COMPOSITE)


_HINT = (
    "the function must write one FunctionIO, apiVersion: apiextensions.crossplane.io/v1alpha1, on stdout, "
    "and nothing else"
)
