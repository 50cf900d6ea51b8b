"""`crossply internal render`: the engine behind the wire format that the Crossplane CLI speaks.

A RenderRequest on stdin, a RenderResponse on stdout. When a step gives up, what is known is written all the
same and the exit code is 3, so that a caller can provide what was asked for and try again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from time import monotonic
from typing import Any

from crossply.cli.render_inputs import machinery_for
from crossply.cli.spec import Command, Flag, Invocation
from crossply.compose.errors import ComposeError, RenderInputError, StepFailed
from crossply.compose.events import Event
from crossply.compose.messages import Request, ResourceSelector, Response, SchemaSelector
from crossply.compose.recipe import prepare
from crossply.compose.rendering import CallFunction, Rendered, Rendering
from crossply.compose.world import World
from crossply.errors import CrossplyError
from crossply.kinds.composition import Step, parse_composition
from crossply.values import Object
from crossply.values.structs import decode_struct, encode_struct, from_wire

PIPELINE_FATAL = 3


class EngineRequestError(CrossplyError):
    """The request on stdin cannot be understood or served."""

    code = "CP-530"
    hint = "internal render is called by other programs; to render files use: crossply render"


def run(invocation: Invocation) -> int:
    """Read the request, render, write the response."""
    from google.protobuf.message import DecodeError

    from crossply.functions.proto.render.v1alpha1.render_pb2 import RenderRequest

    request = RenderRequest()
    try:
        request.ParseFromString(sys.stdin.buffer.read())
    except DecodeError as problem:
        raise EngineRequestError(f"cannot unmarshal render request: {problem}") from None
    kind = request.WhichOneof("input")
    if kind is None:
        raise EngineRequestError(
            "render request must set exactly one of: composite, operation, cron_operation, watch_operation"
        )
    if kind != "composite":
        raise EngineRequestError(f"rendering of {kind} is not supported", hint="only composite resources are")
    return _render(request.composite, invocation["timeout"])


def _render(given: Any, timeout: float) -> int:
    xr = _object(given.composite_resource)
    definition = None
    if given.HasField("composite_resource_definition"):
        definition = _object(given.composite_resource_definition)
    observed = list(map(_object, given.observed_resources))
    world = World(
        [*observed, *map(_object, given.required_resources)],
        map(_object, given.credentials),
        list(map(_object, given.required_schemas)),
    )
    with _Addresses(given.functions, timeout) as addresses:
        rendering = Rendering(machinery_for(xr, definition), world, addresses.call)
        try:
            recipe = prepare(parse_composition(_object(given.composition)))
            _write(rendering.run(xr, recipe, observed, {}))
        except StepFailed as problem:
            _write(_partial(rendering))
            from crossply.cli.failures import report

            report(problem.within("cannot render composite resource"), sys.stderr)
            return PIPELINE_FATAL
        except RenderInputError as problem:
            raise problem.within("cannot render composite resource") from None
        except ComposeError as problem:
            raise problem.within("cannot render composite resource: reconcile failed") from None
    return 0


class _Addresses:
    """The functions of a request, each at its address."""

    def __init__(self, functions: Iterable[Any], timeout: float) -> None:
        from crossply.functions.remote import Remote

        self._runners = {f.name: Remote(f.name, f.address) for f in reversed(list(functions))}
        self._deadline = monotonic() + timeout
        self.call: CallFunction = self._call

    def _call(self, step: Step, request: Request) -> Response:
        runner = self._runners.get(step.function)
        if runner is None:
            raise EngineRequestError(
                f'unknown function "{step.function}" - is it listed in the render input?'
            )
        return runner(request, max(self._deadline - monotonic(), 0.001))

    def __enter__(self) -> _Addresses:
        return self

    def __exit__(self, *_: object) -> None:
        for runner in self._runners.values():
            runner.close()


def _partial(rendering: Rendering) -> Rendered:
    """What is known of a run that a function gave up."""
    events = (*rendering.events, *rendering.told.events)
    wanted = tuple(rendering.required_resources), tuple(rendering.required_schemas)
    return Rendered({}, (), (), events, None, *wanted)


def _object(struct: Any) -> Object:
    obj: Object = from_wire(decode_struct(struct.SerializeToString()))
    return obj


def _write(rendered: Rendered) -> None:
    from crossply.functions.proto.render.v1alpha1.render_pb2 import RenderResponse

    response = RenderResponse()
    response.meta.SetInParent()
    out = response.composite
    out.SetInParent()
    if rendered.composite:
        out.composite_resource.ParseFromString(encode_struct(rendered.composite))
    for obj in rendered.composed:
        out.composed_resources.add().ParseFromString(encode_struct(obj))
    for obj in rendered.deleted:
        out.deleted_resources.add().ParseFromString(encode_struct(obj))
    for event in rendered.events:
        _add_event(out, event)
    for resource in rendered.required_resources:
        out.required_resources.add().ParseFromString(encode_struct(_selector(resource)))
    for schema in rendered.required_schemas:
        out.required_schemas.add().ParseFromString(encode_struct(_schema_selector(schema)))
    sys.stdout.buffer.write(response.SerializeToString())


def _add_event(out: Any, event: Event) -> None:
    out.events.add(type=event.type, reason=event.reason, message=event.message)


def _selector(selector: ResourceSelector) -> Object:
    """A selector in the JSON form of its message."""
    told: Object = {"apiVersion": selector.api_version, "kind": selector.kind}
    if selector.match_name is not None:
        told["matchName"] = selector.match_name
    elif selector.match_labels is not None:
        told["matchLabels"] = {"labels": selector.match_labels}
    if selector.namespace is not None:
        told["namespace"] = selector.namespace
    return told


def _schema_selector(selector: SchemaSelector) -> Object:
    return {"apiVersion": selector.api_version, "kind": selector.kind}


COMMAND = Command(
    name="internal render",
    summary="Speak the render engine's wire format.",
    description="Reads a protobuf RenderRequest from stdin and writes a RenderResponse to stdout, so that "
    "the Crossplane CLI can use Crossply as its engine: crossplane render … --crossplane-binary crossply",
    examples=("crossply internal render < request.pb > response.pb",),
    run=run,
    flags=(
        Flag(
            "timeout", "How long to run before timing out.", kind="duration", default="2m", placeholder="2m"
        ),
    ),
)
