"""Bringing an incoming object into the shape of its kind: typed metadata, defaults, no unknown fields."""

from __future__ import annotations

from typing import Any

from crossply.apiserver import builtin
from crossply.apiserver.apiextensions.crd_strategy import DEFINITIONS
from crossply.apiserver.apiextensions.format_warnings import definition_warnings
from crossply.apiserver.builtin import decode_problem, normalised
from crossply.apiserver.endpoints.body_decoding import repeated_in, report_strict
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.duplicate_fields import by_place
from crossply.apiserver.endpoints.object_metadata import MetadataReader
from crossply.apiserver.endpoints.status_errors import StatusError, bad_request
from crossply.apiserver.metadata_fields import LISTS, MAPS, METADATA_FIELDS, NUMBERS, TEXTS
from crossply.apiserver.registry.resources import Resource, Version
from crossply.schema.defaults import apply_defaults, without_unwanted_nulls
from crossply.schema.fast_validation import Unusual, quick_check
from crossply.schema.prune import prune, unknown_fields
from crossply.values import Object

_WHOLE = ("create", "update")
"""Verbs whose body is the object; that of a patch is not."""


def shape(call: Call, obj: Object) -> Object:
    """The object as the server goes on with it; sloppiness is told to the client."""
    repeated = repeated_in(call, obj) if call.body and call.info.verb in _WHOLE else []
    metadata, unknown = read_metadata(obj.get("metadata"), call)
    obj = {**obj, "metadata": metadata}
    if not call.resource.custom:
        _check_types(call, obj)
    elif call.version.schema is not None and not unknown and not repeated:
        try:
            usual: Object = quick_check(call.version.schema)(obj)
            return usual
        except Unusual:
            pass
    if call.resource.custom:
        embedded = MetadataReader(METADATA_FIELDS)
        obj = embedded.read(obj, call.version.schema)
        unknown = sorted([*unknown, *embedded.unknown, *_unknown(call, obj)])
    else:
        unknown += _unknown(call, obj)
    if call.resource.key == DEFINITIONS:
        call.warnings += definition_warnings(obj, None)
    report_strict(call, _complaints(call, repeated, unknown))
    return with_defaults(call.resource, call.version, obj)


def _complaints(call: Call, repeated: list[str], unknown: list[str]) -> list[str]:
    """What is told of a body: custom resources are read first and compared with their schema afterwards."""
    complaints = [*repeated, *(f'unknown field "{path}"' for path in unknown)]
    mixed = repeated and unknown and not call.resource.custom and call.body.lstrip()[:1] == b"{"
    return by_place(call.body, complaints) if mixed else complaints


def _unknown(call: Call, obj: Object) -> list[str]:
    if not call.resource.custom:
        return builtin.unknown_fields(call.resource, call.version.name, obj)
    return unknown_fields(obj, call.version.schema) if call.version.schema is not None else []


def _check_types(call: Call, obj: Object) -> None:
    problem = decode_problem(call.resource, call.version.name, obj)
    if problem is not None:
        kind = call.resource.names.kind
        raise bad_request(f'{kind} in version "{call.version.name}" cannot be handled as a {kind}: {problem}')


def with_defaults(resource: Resource, version: Version, obj: Object, keep_nulls: bool = False) -> Object:
    """The object with its kind's defaults and without fields that its kind does not have.

    Nulls of fields that are not nullable are dropped when a body is read, but not when an apply is merged.
    """
    if not resource.custom:
        return normalised(resource, version.name, obj)
    if version.schema is None:
        return obj
    try:
        usual: Object = quick_check(version.schema)(obj)
        return usual
    except Unusual:
        pass
    defaulted: Object = apply_defaults(obj, version.schema)
    if not keep_nulls:
        defaulted = without_unwanted_nulls(defaulted, version.schema)
    return prune(defaulted, version.schema)


def read_metadata(metadata: Any, call: Call) -> tuple[Object, list[str]]:
    """Typed metadata, and the paths of fields that metadata does not have."""
    if metadata is None:
        return {}, []
    if not isinstance(metadata, dict):
        raise _wrong_type(call, metadata, "metadata", "v1.ObjectMeta")
    unknown = [f"metadata.{key}" for key in metadata if key not in METADATA_FIELDS]
    kept: Object = {}
    for key, value in metadata.items():
        if value is None or key not in METADATA_FIELDS:
            continue
        _check_type(call, key, value)
        if value not in ("", {}, []) or key == "creationTimestamp":
            kept[key] = value
    return kept, unknown


def _check_type(call: Call, key: str, value: Any) -> None:
    if key in TEXTS and not isinstance(value, str):
        raise _wrong_type(call, value, f"metadata.{key}", "string")
    if key in NUMBERS and (not isinstance(value, int) or isinstance(value, bool)):
        raise _wrong_type(call, value, f"metadata.{key}", "int64")
    if key in MAPS:
        if not isinstance(value, dict):
            raise _wrong_type(call, value, f"metadata.{key}", "map[string]string")
        for member in value.values():
            if not isinstance(member, str):
                raise _wrong_type(call, member, f"metadata.{key}", "string")
    if key in LISTS:
        item = str if key == "finalizers" else dict
        if not isinstance(value, list) or any(not isinstance(each, item) for each in value):
            raise _wrong_type(call, value, f"metadata.{key}", "[]" + ("string" if item is str else "object"))


def _wrong_type(call: Call, value: Any, path: str, wanted: str) -> StatusError:
    kind = call.resource.names.kind
    return bad_request(
        f'{kind} in version "{call.version.name}" cannot be handled as a {kind}: json: cannot unmarshal '
        f"{json_type(value)} into Go struct field ObjectMeta.{path} of type {wanted}"
    )


def json_type(value: Any) -> str:
    """What Go's decoder calls a value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    names: dict[type, str] = {str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")
