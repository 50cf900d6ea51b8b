import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EmitRequestRequest(_message.Message):
    __slots__ = ("request", "meta")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    META_FIELD_NUMBER: _ClassVar[int]
    request: bytes
    meta: StepMeta
    def __init__(self, request: _Optional[bytes] = ..., meta: _Optional[_Union[StepMeta, _Mapping]] = ...) -> None: ...

class EmitRequestResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class EmitResponseRequest(_message.Message):
    __slots__ = ("response", "error", "meta")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    META_FIELD_NUMBER: _ClassVar[int]
    response: bytes
    error: str
    meta: StepMeta
    def __init__(self, response: _Optional[bytes] = ..., error: _Optional[str] = ..., meta: _Optional[_Union[StepMeta, _Mapping]] = ...) -> None: ...

class EmitResponseResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StepMeta(_message.Message):
    __slots__ = ("timestamp", "trace_id", "span_id", "step_index", "step_name", "iteration", "function_name", "operation_meta", "composition_meta")
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_INDEX_FIELD_NUMBER: _ClassVar[int]
    STEP_NAME_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_NAME_FIELD_NUMBER: _ClassVar[int]
    OPERATION_META_FIELD_NUMBER: _ClassVar[int]
    COMPOSITION_META_FIELD_NUMBER: _ClassVar[int]
    timestamp: _timestamp_pb2.Timestamp
    trace_id: str
    span_id: str
    step_index: int
    step_name: str
    iteration: int
    function_name: str
    operation_meta: OperationMeta
    composition_meta: CompositionMeta
    def __init__(self, timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., trace_id: _Optional[str] = ..., span_id: _Optional[str] = ..., step_index: _Optional[int] = ..., step_name: _Optional[str] = ..., iteration: _Optional[int] = ..., function_name: _Optional[str] = ..., operation_meta: _Optional[_Union[OperationMeta, _Mapping]] = ..., composition_meta: _Optional[_Union[CompositionMeta, _Mapping]] = ...) -> None: ...

class CompositionMeta(_message.Message):
    __slots__ = ("composition_name", "composite_resource_uid", "composite_resource_name", "composite_resource_namespace", "composite_resource_api_version", "composite_resource_kind")
    COMPOSITION_NAME_FIELD_NUMBER: _ClassVar[int]
    COMPOSITE_RESOURCE_UID_FIELD_NUMBER: _ClassVar[int]
    COMPOSITE_RESOURCE_NAME_FIELD_NUMBER: _ClassVar[int]
    COMPOSITE_RESOURCE_NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    COMPOSITE_RESOURCE_API_VERSION_FIELD_NUMBER: _ClassVar[int]
    COMPOSITE_RESOURCE_KIND_FIELD_NUMBER: _ClassVar[int]
    composition_name: str
    composite_resource_uid: str
    composite_resource_name: str
    composite_resource_namespace: str
    composite_resource_api_version: str
    composite_resource_kind: str
    def __init__(self, composition_name: _Optional[str] = ..., composite_resource_uid: _Optional[str] = ..., composite_resource_name: _Optional[str] = ..., composite_resource_namespace: _Optional[str] = ..., composite_resource_api_version: _Optional[str] = ..., composite_resource_kind: _Optional[str] = ...) -> None: ...

class OperationMeta(_message.Message):
    __slots__ = ("operation_name", "operation_uid")
    OPERATION_NAME_FIELD_NUMBER: _ClassVar[int]
    OPERATION_UID_FIELD_NUMBER: _ClassVar[int]
    operation_name: str
    operation_uid: str
    def __init__(self, operation_name: _Optional[str] = ..., operation_uid: _Optional[str] = ...) -> None: ...
