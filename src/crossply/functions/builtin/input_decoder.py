"""Strict decoding of a function's input, like the published functions do it with Go's JSON v2.

A field type is a callable that checks one JSON value and returns it without null fields; types nest. Unknown
fields are errors: a misspelt field must not be ignored. Messages name Go types, so each type carries one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crossply.compose.function_messages import Request
from crossply.functions.reply_limits import within_deadline
from crossply.kinds.gostructs import json_kind
from crossply.values import Object
from crossply.values.goquote import quote

FieldType = Callable[[Any], Any]

_UINT64_LIMIT = 2**64
_INT64_LIMIT = 2**63
_KINDS = {bool: "boolean", str: "string", int: "number", float: "number", dict: "object", list: "array"}


class InputError(Exception):
    """The input is invalid. It never leaves the function: it becomes a fatal result."""


def decode(request: Request, field_type: FieldType, go_type: str) -> Object:
    """The decoded input of a request; a missing input is an empty one."""
    try:
        decoded: Object = field_type(request.input or {})
    except InputError as error:
        raise InputError(
            f"cannot get function input *{go_type} from *v1.RunFunctionRequest: "
            f"cannot unmarshal JSON from *structpb.Struct into *{go_type}: {error}"
        ) from None
    return decoded


def struct(go_type: str, members: Mapping[str, FieldType]) -> FieldType:
    """An object with known fields; null fields are absent."""

    def read(value: Any) -> Object:
        if not isinstance(value, dict):
            raise _mismatch(value, go_type)
        decoded = {}
        # The error of the first field by name is reported: the wire sorts fields.
        for name in sorted(value):
            if name not in members:
                raise InputError(
                    f"json: cannot unmarshal Go value of type {go_type}: unknown name {quote(name)}"
                )
            if value[name] is not None:
                decoded[name] = members[name](value[name])
        return decoded

    return read


def array(go_type: str, item: FieldType, absent: Any) -> FieldType:
    """A list; a null item becomes `absent`, its zero value."""

    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise _mismatch(value, go_type)
        return [absent if member is None else item(member) for member in within_deadline(value)]

    return read


def text(go_type: str = "string") -> FieldType:
    """A string, or one of Go's named string types."""

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise _mismatch(value, go_type)
        return value

    return read


def boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _mismatch(value, "bool")
    return value


def mapping(go_type: str, item: FieldType, absent: Any) -> FieldType:
    """An object with arbitrary keys and values of one type; null becomes `absent`."""

    def read(value: Any) -> Object:
        if not isinstance(value, dict):
            raise _mismatch(value, go_type)
        return {
            name: absent if member is None else item(member)
            for name, member in within_deadline(value.items())
        }

    return read


def uint64(value: Any) -> int:
    """A non-negative integer of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _mismatch(value, "uint64")
    if value != value or abs(value) == float("inf"):
        raise _mismatch(str(value), "uint64")
    integer = int(value)
    if integer != value or integer < 0:
        raise _not_parsed(value, "uint64", "unsigned", "invalid syntax")
    if integer >= _UINT64_LIMIT:
        raise _not_parsed(integer, "uint64", "unsigned", "value out of range")
    return integer


def signed_integer(go_type: str) -> FieldType:
    """An integer of 64 bits with a sign."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _mismatch(value, go_type)
        if value != value or abs(value) == float("inf"):
            raise _mismatch(str(value), go_type)
        integer = int(value)
        if integer != value:
            raise _not_parsed(value, go_type, "signed", "invalid syntax")
        if not -_INT64_LIMIT <= integer < _INT64_LIMIT:
            raise _not_parsed(integer, go_type, "signed", "value out of range")
        return integer

    return read


int64 = signed_integer("int64")


def time(value: Any) -> str:
    """A timestamp."""
    from crossply.values.timestamps import parse_problem

    if isinstance(value, str):
        problem = parse_problem(value, "2006-01-02T15:04:05Z07:00")
    else:
        problem = f"json: cannot unmarshal {json_kind(value)} into Go value of type string"
    if problem:
        raise InputError(f"{_mismatch(value, 'v1.Time')}: {problem}")
    return str(value)


def free_form(go_type: str) -> FieldType:
    """An object with arbitrary fields."""

    def read(value: Any) -> Object:
        if not isinstance(value, dict):
            raise _mismatch(value, go_type)
        return value

    return read


_TEXTS = mapping("map[string]string", text(), "")
_OWNER = struct(
    "v1.OwnerReference",
    {
        **dict.fromkeys(("apiVersion", "kind", "name"), text()),
        "uid": text("types.UID"),
        "controller": boolean,
        "blockOwnerDeletion": boolean,
    },
)
_MANAGED_FIELDS = struct(
    "v1.ManagedFieldsEntry",
    {
        **dict.fromkeys(("manager", "apiVersion", "fieldsType", "subresource"), text()),
        "operation": text("v1.ManagedFieldsOperationType"),
        "time": time,
        "fieldsV1": lambda value: value,
    },
)
_METADATA = struct(
    "v1.ObjectMeta",
    {
        **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "resourceVersion"), text()),
        "uid": text("types.UID"),
        "generation": int64,
        "deletionGracePeriodSeconds": int64,
        "creationTimestamp": time,
        "deletionTimestamp": time,
        "labels": _TEXTS,
        "annotations": _TEXTS,
        "finalizers": array("[]string", text(), ""),
        "ownerReferences": array("[]v1.OwnerReference", _OWNER, {}),
        "managedFields": array("[]v1.ManagedFieldsEntry", _MANAGED_FIELDS, {}),
    },
)
OBJECT: dict[str, FieldType] = {"apiVersion": text(), "kind": text(), "metadata": _METADATA}
"""The fields of every input."""


def _mismatch(value: Any, go_type: str) -> InputError:
    kind = _KINDS.get(type(value), "null")
    return InputError(f"json: cannot unmarshal JSON {kind} into Go value of type {go_type}")


def _not_parsed(number: float, go_type: str, kind: str, problem: str) -> InputError:
    return InputError(
        f"json: cannot unmarshal JSON number into Go value of type {go_type}: "
        f'cannot parse "{number}" as {kind} integer: {problem}'
    )
