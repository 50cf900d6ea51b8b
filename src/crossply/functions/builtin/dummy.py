"""function-dummy: return the response in the input, merged over the request, for tests and first steps.

The merge is protobuf's: resources are replaced by name, fields of objects one by one, and what the input does
not set stays.
"""

from __future__ import annotations

from crossply.compose.function_messages import Request, Resource, Response, State, fatal, respond
from crossply.functions.builtin.input_decoder import OBJECT, InputError, decode, free_form, struct
from crossply.functions.builtin.protojson import MessageError, read_response
from crossply.values import Object

_GO_TYPE = "v1beta1.Response"
_INPUT = struct(_GO_TYPE, {**OBJECT, "response": free_form("runtime.RawExtension")})


def run(request: Request) -> Response:
    try:
        decoded = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    message = "cannot unmarshal RunFunctionResponse from *v1.RunFunctionRequest"
    if "response" not in decoded:
        return fatal(request, f"{message}: proto: syntax error (line 1:1): unexpected token ")
    try:
        overlay = read_response(decoded["response"])
    except MessageError as error:
        return fatal(request, f"{message}: {error}")
    return merged(respond(request), overlay)


def read_input(request: Request) -> Object:
    """The decoded input; raises InputError."""
    return decode(request, _INPUT, _GO_TYPE)


def merged(answer: Response, overlay: Response) -> Response:
    """Merge a response over one that only passes on the request."""
    context = overlay.context
    return overlay._replace(
        desired=_state(answer.desired or State(), overlay.desired),
        context=answer.context if context is None else {**(answer.context or {}), **context},
        ttl=answer.ttl if overlay.ttl is None else overlay.ttl,
        tag=overlay.tag or answer.tag,
    )


def _state(below: State, over: State | None) -> State:
    if over is None:
        return below
    resources = {**below.resources, **over.resources} if over.resources else below.resources
    return State(_composite(below.composite, over.composite), resources)


def _composite(below: Resource | None, over: Resource | None) -> Resource | None:
    if below is None or over is None:
        return over or below
    details = {**below.connection_details, **over.connection_details}
    return Resource({**below.object, **over.object}, details, over.ready or below.ready)
