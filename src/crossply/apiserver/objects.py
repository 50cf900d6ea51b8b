"""Objects on their way in and out: reading a request's body, and writing stored bytes."""

from __future__ import annotations

import re
from typing import Any

import orjson

from crossply.apiserver.calls import Call
from crossply.apiserver.status import StatusError, bad_request, unsupported_media_type
from crossply.values import Object
from crossply.values.gojson import JsonError
from crossply.values.gojson import loads as go_loads

JSON, YAML = "application/json", "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
MEDIA_TYPES = (JSON, YAML, PROTOBUF)
_CUSTOM_MEDIA_TYPES = (JSON, YAML)

MAX_DEPTH = 256
"""How deep an object may nest: deeper ones could exhaust the stack of code that walks them."""

_SHOWN = 30
_LONGEST_COMPLAINT = 500

_SORTED = orjson.OPT_SORT_KEYS
_KEY_SIGN = re.compile(rb'"\s*:')


def encode(obj: Object) -> bytes:
    """An object as it is stored: JSON with sorted keys."""
    return orjson.dumps(obj, option=_SORTED)


def decode(data: bytes) -> Object:
    """A stored object."""
    obj: Object = orjson.loads(data)
    return obj


def media_type(content_type: str) -> str:
    """A content type without its parameters."""
    return content_type.partition(";")[0].strip().lower() or JSON


def read_body(call: Call) -> Object:
    """The object in a request's body, of the resource's kind."""
    kind = call.resource.names.kind
    offers = _CUSTOM_MEDIA_TYPES if call.resource.custom else MEDIA_TYPES
    value = read_value(call, kind, call.resource.api_version(call.version.name), offers)
    _check_kind(value, call)
    note_duplicates(call, value, media_type(call.headers.get("Content-Type", JSON)))
    return value


def read_value(call: Call, kind: str, api_version: str, offers: tuple[str, ...] = MEDIA_TYPES) -> Object:
    """The object in a request's body as its content type says; a kind that it does not tell is as given."""
    form = media_type(call.headers.get("Content-Type", JSON))
    if form not in offers:
        raise unsupported_media_type(offers)
    if form == PROTOBUF:
        from crossply.apiserver.protobuf import decode_object

        value = decode_object(call.body, kind, api_version)
    else:
        value = _from_yaml(call.body, kind) if form == YAML else from_json(call.body, kind)
    if not isinstance(value, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {kind}): not an object")
    check_depth(value)
    return value


def from_json(body: bytes, kind: str) -> Any:
    """Parse a body; what Go's decoder would say of a broken one."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:
        return go_loads(body.decode("utf-8", "replace"))
    except JsonError as problem:
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; "
            f"json parse error: {str(problem)[:_LONGEST_COMPLAINT]} ({_beginning(body)})"
        ) from None


def _beginning(body: bytes) -> str:
    """The first bytes of a body, as Kubernetes shows them; few, because it may hold a secret."""
    shown = body[:_SHOWN].decode("utf-8", "replace") if body[:1] == b"{" else body[:_SHOWN].hex()
    return f"{shown} ..." if len(body) > _SHOWN else shown or "<empty>"


def _from_yaml(body: bytes, kind: str) -> Any:
    from crossply.values.yaml import YamlError, load

    try:
        return load(body)
    except YamlError as problem:
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): {problem} ({_beginning(body)})"
        ) from None


def check_depth(value: Any, limit: int = MAX_DEPTH) -> None:
    """Refuse values that nest deeper than the server walks."""
    level = [value]
    for _ in range(limit):
        level = [
            child
            for item in level
            if type(item) in (dict, list)
            for child in (item.values() if type(item) is dict else item)
            if type(child) in (dict, list)
        ]
        if not level:
            return
    raise bad_request(f"the object nests deeper than {limit} levels")


def _check_kind(obj: Object, call: Call) -> None:
    kind = call.resource.names.kind
    expected = call.resource.api_version(call.version.name)
    given, version = obj.get("kind"), obj.get("apiVersion")
    if not isinstance(given, str) or not isinstance(version, str):
        if given is None or version is None:
            given, version = given or kind, version or expected
        else:
            raise bad_request(
                f"the object provided is unrecognized (must be of type {kind}): kind and apiVersion must be "
                "strings"
            )
    if given != kind or version != expected:
        if call.resource.custom:
            raise bad_request(
                f"the API version in the data ({version}) does not match the expected API version "
                f"({expected})"
                if given == kind
                else f'{given} in version "{version.rpartition("/")[2]}" cannot be handled as a {kind}: '
                f"no kind is registered for the type {given}"
            )
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version ({expected})"
            if given == kind
            else f'{given} in version "{version.rpartition("/")[2]}" cannot be handled as a {kind}'
        )
    obj["kind"], obj["apiVersion"] = kind, expected


def field_validation(call: Call) -> str:
    """What to do about unknown and repeated fields: Ignore, Warn or Strict."""
    value = call.query.get("fieldValidation", "") or "Warn"
    if value not in ("Ignore", "Warn", "Strict"):
        raise StatusError(
            422,
            "Invalid",
            f'{call.info.verb.capitalize()}Options.meta.k8s.io "" is invalid: fieldValidation: Unsupported '
            f'value: "{value}": supported values: "", "Ignore", "Strict", "Warn"',
        )
    return value


def note_duplicates(call: Call, value: Object, form: str) -> None:
    """Warn of keys that a body has twice, or refuse it, as the request wishes."""
    wish = field_validation(call)
    if wish == "Ignore" or form == PROTOBUF:
        return
    # Counting is fast, and there are as many keys as colons unless a text holds some or a key is repeated.
    if form == JSON and len(_KEY_SIGN.findall(call.body)) == _count_keys(value):
        return
    report_strict(call, [f'duplicate field "{path}"' for path in _duplicates(call.body, form)])


def report_strict(call: Call, problems: list[str]) -> None:
    """Tell the client about sloppiness: by warnings, or by refusing when it asked for strictness."""
    if not problems:
        return
    wish = field_validation(call)
    if wish == "Strict":
        kind = call.resource.names.kind
        raise bad_request(
            f'{kind} in version "{call.version.name}" cannot be handled as a {kind}: strict decoding error: '
            + ", ".join(problems)
        )
    if wish == "Warn":
        call.warnings += problems


def _count_keys(value: Any) -> int:
    if type(value) is dict:
        return len(value) + sum(map(_count_keys, value.values()))
    if type(value) is list:
        return sum(map(_count_keys, value))
    return 0


def _duplicates(body: bytes, form: str) -> list[str]:
    if form == YAML:
        return []
    import json

    found: list[str] = []

    def build(pairs: list[tuple[str, Any]]) -> _Paths:
        return _Paths(pairs)

    _collect(json.loads(body, object_pairs_hook=build), "", found)
    return found


class _Paths(list[tuple[str, Any]]):
    """The members of a JSON object in their order, repeated ones included."""


def _collect(value: Any, path: str, found: list[str]) -> None:
    if isinstance(value, _Paths):
        seen: set[str] = set()
        for key, member in value:
            at = f"{path}.{key}" if path else key
            if key in seen:
                found.append(at)
            seen.add(key)
            _collect(member, at, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _collect(item, f"{path}[{index}]", found)
