"""Resources, which are Structs, and plain dicts."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from typing import Any

from google.protobuf import struct_pb2

from crossply.sdk.child_names import child_name
from crossply.sdk.shim.struct_conversion import dict_of, patch_struct, struct_of
from crossply.sdk.shim.struct_conversion import update as update_struct

from .proto.v1 import run_function_pb2

__all__ = [
    "Condition",
    "child_name",
    "dict_to_struct",
    "get_condition",
    "struct_to_dict",
    "update",
    "update_status",
]

_Resource: Any = run_function_pb2.Resource

_CONDITION = ("type", "status", "message", "reason", "lastTransitionTime")

patch_struct()


def update(r: Any, source: Any) -> None:
    """Lay the fields of a dict, a Struct or a pydantic model over a resource, as a dict's update does."""
    if isinstance(source, dict):
        update_struct(r.resource, source)
    elif isinstance(source, struct_pb2.Struct):
        r.resource.MergeFrom(source)
    elif hasattr(source, "model_dump"):
        # apiVersion and kind are seldom given to a model, so that they count as not set.
        update_struct(
            r.resource, {**_set_fields(source), "apiVersion": source.apiVersion, "kind": source.kind}
        )
    else:
        raise TypeError(f"Unsupported type: {type(source)}")


def update_status(r: Any, status: Any) -> None:
    """Set the status of a resource: a dict, or a pydantic model."""
    update(r, {"status": _set_fields(status) if hasattr(status, "model_dump") else status})


def _set_fields(model: Any) -> dict[str, Any]:
    """The fields that are set in a model, by their names in objects."""
    fields: dict[str, Any] = model.model_dump(exclude_unset=True, by_alias=True, warnings=False)
    return fields


def dict_to_struct(d: dict[str, Any]) -> struct_pb2.Struct:
    """A Struct of a dict."""
    return struct_of(d)


def struct_to_dict(s: Any) -> dict[str, Any]:
    """A dict of a Struct."""
    return dict_of(s)


@dataclasses.dataclass
class Condition:
    """A status condition."""

    typ: str
    status: str
    reason: str | None = None
    message: str | None = None
    last_transition_time: datetime.datetime | None = None


def get_condition(resource: Any, typ: str) -> Condition:
    """A status condition of a resource, or of nothing: its status is Unknown where there is none."""
    if isinstance(resource, _Resource):
        resource = resource.resource
    listed = _conditions(resource) if isinstance(resource, struct_pb2.Struct) else _of_mapping(resource)
    for condition in listed:
        if condition["type"] == typ:
            return _condition(condition)
    return Condition(typ=typ, status="Unknown")


def _conditions(resource: struct_pb2.Struct) -> Iterator[Any]:
    """The conditions in a Struct. Reading `fields` is faster than reading items."""
    status = resource.fields.get("status")
    if status is None or not status.HasField("struct_value"):
        return
    conditions = status.struct_value.fields.get("conditions")
    for value in conditions.list_value.values if conditions is not None else ():
        fields = value.struct_value.fields
        yield {name: fields[name].string_value for name in _CONDITION if name in fields}


def _of_mapping(resource: Any) -> Any:
    if not resource or "status" not in resource:
        return ()
    status = resource["status"]
    return status["conditions"] if status and "conditions" in status else ()


def _condition(fields: Any) -> Condition:
    condition = Condition(typ=fields["type"], status=fields["status"])
    if "message" in fields:
        condition.message = fields["message"]
    if "reason" in fields:
        condition.reason = fields["reason"]
    if "lastTransitionTime" in fields:
        condition.last_transition_time = datetime.datetime.fromisoformat(fields["lastTransitionTime"])
    return condition
