"""Decodes request bodies: JSON, YAML or protobuf, with Go's errors."""

from __future__ import annotations

from typing import Any

import orjson

from crossply.apiserver.endpoints.body_identity import check_kind, unreadable_head
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.duplicate_fields import repeated_in_json, repeated_in_yaml, yaml_lines
from crossply.apiserver.endpoints.query_options import field_validation
from crossply.apiserver.endpoints.status_errors import bad_request, unsupported_media_type
from crossply.apiserver.event_loop_offloading import (
    HEAVY_BYTES,
    is_light_json,
    leave_event_loop,
    value_size,
    yaml_weight,
)
from crossply.values import Object
from crossply.values.gojson import JsonError
from crossply.values.gojson import loads as go_loads
from crossply.values.nesting import nests_deeper

JSON, YAML = "application/json", "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
MEDIA_TYPES = (JSON, YAML, PROTOBUF)
_CUSTOM_MEDIA_TYPES = (JSON, YAML)

MAX_DEPTH = 224
"""How deep an object may nest, as it is sent and as it is stored with its managed fields.

orjson writes 254 levels, which leaves room for the list, table, event or review around an object. Deeper
objects could also exhaust the stack of recursive code.
"""

_SHOWN = 30
_LONGEST_ERROR = 500


def media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower() or JSON


def read_body(call: Call) -> Object:
    """The object in the body, which must be of the resource's kind."""
    kind = call.resource.names.kind
    offers = _CUSTOM_MEDIA_TYPES if call.resource.custom else MEDIA_TYPES
    value = read_value(call, kind, call.resource.api_version(call.version.name), offers)
    check_kind(value, call, _beginning(call.body))
    return value


def read_value(call: Call, kind: str, api_version: str, offers: tuple[str, ...] = MEDIA_TYPES) -> Object:
    """The object in the body, decoded by its content type; `kind` and `api_version` apply if it has none."""
    form = media_type(call.headers.get("Content-Type", JSON))
    if form not in offers:
        raise unsupported_media_type(offers)
    if form == PROTOBUF:
        from crossply.apiserver.protobuf import decode_object

        value = decode_object(call.body, kind, api_version)
    else:
        value = _from_yaml(call.body, kind) if form == YAML else _from_json(call.body, kind)
    levels = weigh(call, value, is_json=form == JSON)
    value = {} if value is None else value
    if (problem := unreadable_head(value, kind, _beginning(call.body))) is not None:
        raise problem
    check_depth(value, levels)
    assert isinstance(value, dict)
    return value


def weigh(call: Call, value: Any, *, is_json: bool = True) -> int | None:
    """Set the weight of the call from its decoded body; heavy calls continue in the background thread.

    Returns how many levels deep the value nests, or None if that was not counted.
    """
    levels = None
    if not is_json or not is_light_json(call.body):
        weight, levels = value_size(value)
        call.weight = max(call.weight, weight)
    leave_event_loop(call.weight)
    return levels


def _from_json(body: bytes, kind: str) -> Any:
    """As `from_json`, in the thread if the body looks heavy: there it need not be parsed again."""
    if not is_light_json(body):
        leave_event_loop(HEAVY_BYTES)
    return from_json(body, kind)


def from_json(body: bytes, kind: str) -> Any:
    """Parse a body; raises the error of Go's decoder."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:
        return go_loads(body.decode("utf-8", "replace"))
    except JsonError as problem:
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; "
            f"json parse error: {str(problem)[:_LONGEST_ERROR]} ({_beginning(body)})"
        ) from None


def _beginning(body: bytes) -> str:
    """The first bytes of a body, as Kubernetes shows them; few, because it may contain a secret."""
    shown = body[:_SHOWN].decode("utf-8", "replace") if body[:1] == b"{" else body[:_SHOWN].hex()
    return f"{shown} ..." if len(body) > _SHOWN else shown or "<empty>"


def load_yaml(body: bytes) -> Any:
    """Parse a body of YAML, in the thread if it takes long. Raises `YamlError`."""
    from crossply.values.yaml import load

    leave_event_loop(yaml_weight(body))
    return load(body)


def _from_yaml(body: bytes, kind: str) -> Any:
    from crossply.values.yaml import YamlError

    try:
        return load_yaml(body)
    except YamlError as problem:
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): {problem} ({_beginning(body)})"
        ) from None


def check_depth(value: Any, levels: int | None = None) -> None:
    """Refuse values that nest too deep; `levels` says how deep, if that is known."""
    is_deeper = nests_deeper(value, MAX_DEPTH) if levels is None else levels > MAX_DEPTH
    if is_deeper:
        raise bad_request(f"the object nests deeper than {MAX_DEPTH} levels")


def repeated_in(call: Call, value: Object) -> list[str]:
    """The duplicate keys of a body, unless field validation is Ignore."""
    form = media_type(call.headers.get("Content-Type", JSON))
    validation = field_validation(call)
    if validation == "Ignore" or form == PROTOBUF:
        return []
    if form == YAML:
        problem = repeated_in_yaml(call.body)
        return [problem] if problem and validation == "Strict" else yaml_lines(problem)
    return [f'duplicate field "{path}"' for path in repeated_in_json(call.body, value)]


def report_strict(call: Call, problems: list[str]) -> None:
    """Report problems by field validation: as warnings, or as a strict decoding error."""
    if not problems:
        return
    validation = field_validation(call)
    if validation == "Strict":
        kind = call.resource.names.kind
        raise bad_request(
            f'{kind} in version "{call.version.name}" cannot be handled as a {kind}: strict decoding error: '
            + ", ".join(problems)
        )
    if validation == "Warn":
        call.warnings += problems
