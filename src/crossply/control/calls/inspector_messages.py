"""The messages of the PipelineInspectorService: a call of a function, and what it was sent or answered.

Requests and responses are JSON. The values of credentials, connection details and Secrets are replaced in it,
their keys stay. What a function copies from them to another field is not recognized.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from crossply.compose.function_messages import NO_STATE, Request, Resource, Response, State
from crossply.compose.object_metadata import metadata_of
from crossply.functions.json_messages import write_request, write_response
from crossply.values import Object

_SERVICE = "/crossplane.pipeline.v1alpha1.PipelineInspectorService/"
_REDACTED = "**REDACTED**"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class OperationIdentity(NamedTuple):
    """The Operation that a pipeline runs for."""

    name: str
    uid: str


class CallIdentity(NamedTuple):
    """Which call of which function it is."""

    time_ns: int
    trace_id: str
    span_id: str
    step_index: int
    step: str
    iteration: int
    function: str
    operation: OperationIdentity | None
    composition: str
    composite: Object


def encode_message(call: CallIdentity, content: Request | Response | str) -> tuple[str, bytes]:
    """The gRPC method for a request, a response or the reason why there is none, and its argument."""
    from crossply.functions.proto.pipeline.v1alpha1 import pipeline_inspector_pb2

    messages: Any = pipeline_inspector_pb2
    meta = _step_meta(messages, call)
    method = "EmitResponse"
    if isinstance(content, Request):
        method = "EmitRequest"
        message = messages.EmitRequestRequest(request=_inspected_request(content), meta=meta)
    elif isinstance(content, str):
        message = messages.EmitResponseRequest(error=content, meta=meta)
    else:
        message = messages.EmitResponseRequest(response=_inspected_response(content), meta=meta)
    return _SERVICE + method, message.SerializeToString()


def _step_meta(messages: Any, call: CallIdentity) -> Any:
    meta = messages.StepMeta(
        trace_id=call.trace_id,
        span_id=call.span_id,
        step_index=call.step_index,
        step_name=call.step,
        iteration=call.iteration,
        function_name=call.function,
    )
    meta.timestamp.FromNanoseconds(call.time_ns)
    if call.operation is not None:
        meta.operation_meta.operation_name, meta.operation_meta.operation_uid = call.operation
        return meta
    metadata = metadata_of(call.composite)
    composition = meta.composition_meta
    composition.composition_name = call.composition
    composition.composite_resource_uid = metadata.get("uid", "")
    composition.composite_resource_name = metadata.get("name", "")
    composition.composite_resource_namespace = metadata.get("namespace", "")
    composition.composite_resource_api_version = call.composite.get("apiVersion", "")
    composition.composite_resource_kind = call.composite.get("kind", "")
    return meta


def _inspected_request(request: Request) -> bytes:
    """A RunFunctionRequest in JSON, without secrets."""
    return write_request(
        Request(
            _redact_state(request.observed),
            _redact_state(request.desired),
            input=request.input,
            context=request.context,
            extra_resources=_redact_selected(request.extra_resources),
            credentials={name: _redact_values(data) for name, data in request.credentials.items()},
            required_resources=_redact_selected(request.required_resources),
            required_schemas=request.required_schemas,
            capabilities=request.capabilities,
            tag=request.tag,
        )
    )


def _inspected_response(response: Response) -> bytes:
    """A RunFunctionResponse in JSON, without secrets."""
    desired = response.desired
    return write_response(response._replace(desired=_redact_state(desired) if desired is not None else None))


def _redact_state(state: State) -> State:
    if state is NO_STATE:  # compared by identity
        return state
    composite = state.composite
    return State(
        _redact_resource(composite) if composite is not None else None,
        {name: _redact_resource(resource) for name, resource in state.resources.items()},
    )


def _redact_selected(
    selected: Mapping[str, Iterable[Resource]],
) -> dict[str, tuple[Resource, ...]]:
    return {name: tuple(map(_redact_resource, resources)) for name, resources in selected.items()}


def _redact_resource(resource: Resource) -> Resource:
    obj = resource.object
    if obj.get("kind") == "Secret" and obj.get("apiVersion") == "v1":
        resource = resource._replace(object=_redact_secret(obj), snapshot=None)
    if resource.connection_details:
        resource = resource._replace(connection_details=_redact_values(resource.connection_details))
    return resource


def _redact_secret(secret: Object) -> Object:
    secret = dict(secret)
    for field in ("data", "stringData"):
        if field in secret:
            values = secret[field]
            secret[field] = dict.fromkeys(values, _REDACTED) if isinstance(values, dict) else _REDACTED
    metadata = metadata_of(secret)
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict) and _LAST_APPLIED in annotations:
        secret["metadata"] = {**metadata, "annotations": {**annotations, _LAST_APPLIED: _REDACTED}}
    return secret


def _redact_values(values: Mapping[str, bytes]) -> dict[str, bytes]:
    return dict.fromkeys(values, _REDACTED.encode())
