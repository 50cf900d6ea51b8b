"""What functions were sent, as data to compare."""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import MessageToDict

from crossply.functions.proto.v1.run_function_pb2 import RunFunctionRequest


def as_data(requests: list[bytes]) -> list[Any]:
    return [MessageToDict(RunFunctionRequest.FromString(request)) for request in requests]


def without_versions(requests: list[bytes]) -> list[Any]:
    """Requests as data, without what servers count by themselves: the version of what was just written."""
    return [without(request, "resourceVersion", "tag") for request in as_data(requests)]


def without_references(requests: list[bytes]) -> list[Any]:
    """Requests as data, without what the composite resource refers to."""
    return [without(request, "resourceRefs", "tag") for request in as_data(requests)]


def without(value: Any, *keys: str) -> Any:
    """A value without some fields, wherever they are."""
    if isinstance(value, list):
        return [without(item, *keys) for item in value]
    if isinstance(value, dict):
        return {key: without(item, *keys) for key, item in value.items() if key not in keys}
    return value
