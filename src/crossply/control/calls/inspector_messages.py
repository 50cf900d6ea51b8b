"""The messages of the PipelineInspectorService: a call of a function, and what it was sent or answered."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.messages import Request, Response
from crossply.compose.object_metadata import metadata_of
from crossply.values import Object

_SERVICE = "/crossplane.pipeline.v1alpha1.PipelineInspectorService/"


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
    from crossply.control.calls.inspected_messages import inspected_request, inspected_response
    from crossply.functions.proto.pipeline.v1alpha1 import pipeline_inspector_pb2

    messages: Any = pipeline_inspector_pb2
    meta = _step_meta(messages, call)
    method = "EmitResponse"
    if isinstance(content, Request):
        method = "EmitRequest"
        message = messages.EmitRequestRequest(request=inspected_request(content), meta=meta)
    elif isinstance(content, str):
        message = messages.EmitResponseRequest(error=content, meta=meta)
    else:
        message = messages.EmitResponseRequest(response=inspected_response(content), meta=meta)
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
