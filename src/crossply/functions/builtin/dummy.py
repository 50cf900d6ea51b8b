"""function-dummy as its makers publish it: the response in the input, laid over what came in.

Laid over means what protobuf calls merging: the resource of a name is replaced, the members of
an object are replaced one by one, and what the input does not say stays.
"""

from __future__ import annotations

from crossply.compose.messages import Request, Resource, Response, State, fatal, respond
from crossply.functions.builtin.input_decoder import OBJECT, InputError, decode, free_form, struct
from crossply.functions.builtin.protojson import MessageError, read_response

_GO_TYPE = "v1beta1.Response"
_SHAPE = struct(_GO_TYPE, {**OBJECT, "response": free_form("runtime.RawExtension")})


def run(request: Request) -> Response:
    """Answer with the response in the input."""
    try:
        given = decode(request, _SHAPE, _GO_TYPE)
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    try:
        overlay = read_response(given.get("response", {}))
    except MessageError as error:
        story = "cannot unmarshal RunFunctionResponse from *v1.RunFunctionRequest"
        return fatal(request, f"{story}: {error}")
    return merged(respond(request), overlay)


def merged(answer: Response, overlay: Response) -> Response:
    """An answer that says nothing yet but what came in, with another one laid over it."""
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
