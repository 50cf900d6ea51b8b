"""Normalizes an incoming object: typed metadata, defaults, no unknown fields."""

from __future__ import annotations

from crossply.apiserver import builtin
from crossply.apiserver.apiextensions.customresourcedefinition_strategy import DEFINITIONS
from crossply.apiserver.apiextensions.format_warnings import definition_warnings
from crossply.apiserver.builtin import decode_problem, normalised
from crossply.apiserver.endpoints.body_decoding import repeated_in, report_strict
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.duplicate_fields import by_place
from crossply.apiserver.endpoints.metadata_decoding import (
    METADATA_FIELDS,
    MetadataReader,
    read_metadata,
)
from crossply.apiserver.endpoints.status_errors import bad_request, request_too_large
from crossply.apiserver.served_resources import Resource, Version
from crossply.schema.default_sizes import MOST_ADDED, DefaultsTooLarge, check_added_size
from crossply.schema.defaults import apply_defaults, without_unwanted_nulls
from crossply.schema.fast_validation import Unusual, quick_check
from crossply.schema.prune import prune, unknown_fields
from crossply.values import Object

_BODY_IS_OBJECT = ("create", "update")
"""Verbs whose body is the object; the body of a patch is not."""


def normalize(call: Call, obj: Object) -> Object:
    """The normalized object; unknown and duplicate fields are reported to the client."""
    repeated = repeated_in(call, obj) if call.body and call.info.verb in _BODY_IS_OBJECT else []
    metadata, unknown = read_metadata(obj.get("metadata"), call)
    obj = {**obj, "metadata": metadata}
    if not call.resource.custom:
        _check_types(call, obj)
    elif call.version.schema is not None and not unknown and not repeated:
        _check_defaults(call.version.schema, obj)
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
    report_strict(call, _strict_problems(call, repeated, unknown))
    return with_defaults(call.resource, call.version, obj)


def _strict_problems(call: Call, repeated: list[str], unknown: list[str]) -> list[str]:
    """The problems of a body for strict field validation, in kube-apiserver's order."""
    problems = [*repeated, *(f'unknown field "{path}"' for path in unknown)]
    mixed = repeated and unknown and not call.resource.custom and call.body.lstrip()[:1] == b"{"
    return by_place(call.body, problems) if mixed else problems


def _unknown(call: Call, obj: Object) -> list[str]:
    if not call.resource.custom:
        return builtin.unknown_fields(call.resource, call.version.name, obj)
    return unknown_fields(obj, call.version.schema) if call.version.schema is not None else []


def _check_types(call: Call, obj: Object) -> None:
    problem = decode_problem(call.resource, call.version.name, obj)
    if problem is not None:
        kind = call.resource.names.kind
        raise bad_request(f'{kind} in version "{call.version.name}" cannot be handled as a {kind}: {problem}')


def _check_defaults(schema: Object, obj: Object) -> None:
    try:
        check_added_size(obj, schema)
    except DefaultsTooLarge:
        raise request_too_large(
            f"the defaults of its schema would add more than {MOST_ADDED} bytes to the object"
        ) from None


def with_fitting_defaults(resource: Resource, version: Version, obj: Object) -> Object:
    """A stored object with the defaults of its kind, or without any if they would add too much.

    They come from a later definition, and the object must still be readable and deletable.
    """
    if not resource.custom or version.schema is None:
        return with_defaults(resource, version, obj)
    try:
        check_added_size(obj, version.schema)
    except DefaultsTooLarge:
        return prune(obj, version.schema)
    return _defaulted(version.schema, obj)


def with_defaults(resource: Resource, version: Version, obj: Object, keep_nulls: bool = False) -> Object:
    """The object with the defaults of its kind and without unknown fields.

    Nulls of non-nullable fields are dropped when a body is decoded, but not when an apply is merged.
    """
    if not resource.custom:
        return normalised(resource, version.name, obj)
    if version.schema is None:
        return obj
    _check_defaults(version.schema, obj)
    return _defaulted(version.schema, obj, keep_nulls)


def _defaulted(schema: Object, obj: Object, keep_nulls: bool = False) -> Object:
    """An object of a custom kind with defaults that were found to be small enough."""
    try:
        usual: Object = quick_check(schema)(obj)
        return usual
    except Unusual:
        pass
    defaulted: Object = apply_defaults(obj, schema)
    if not keep_nulls:
        defaulted = without_unwanted_nulls(defaulted, schema)
    return prune(defaulted, schema)
