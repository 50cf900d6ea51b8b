"""Function messages in protobuf's JSON encoding, with either spelling of field names.

Each message is decoded by a table of its fields. Enums are names or numbers, bytes are base64 of either
alphabet, a duration is seconds with an `s`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from crossply.compose.function_messages import (
    CAPABILITIES,
    NO_STATE,
    SECOND,
    Condition,
    Request,
    Requirements,
    Resource,
    ResourceRef,
    ResourceSelector,
    Response,
    Result,
    SchemaSelector,
    State,
)
from crossply.values import Object

Reader = Callable[[Any], Any]

_READY = {"READY_UNSPECIFIED": 0, "READY_TRUE": 1, "READY_FALSE": 2}
_SEVERITY = {"SEVERITY_UNSPECIFIED": 0, "SEVERITY_FATAL": 1, "SEVERITY_WARNING": 2, "SEVERITY_NORMAL": 3}
_TARGET = {"TARGET_UNSPECIFIED": 0, "TARGET_COMPOSITE": 1, "TARGET_COMPOSITE_AND_CLAIM": 2}
_STATUS = {
    "STATUS_CONDITION_UNSPECIFIED": 0,
    "STATUS_CONDITION_UNKNOWN": 1,
    "STATUS_CONDITION_TRUE": 2,
    "STATUS_CONDITION_FALSE": 3,
}
_CAPABILITY = {
    "CAPABILITY_UNSPECIFIED": 0,
    "CAPABILITY_CAPABILITIES": 1,
    "CAPABILITY_REQUIRED_RESOURCES": 2,
    "CAPABILITY_CREDENTIALS": 3,
    "CAPABILITY_CONDITIONS": 4,
    "CAPABILITY_REQUIRED_SCHEMAS": 5,
}
_MAX_DURATION = 315_576_000_000


class MessageError(Exception):
    """The value is not a valid message."""


def read_response(value: Object) -> Response:
    """Decode a response; raises MessageError."""
    message = _RESPONSE(value)
    meta = message.get("meta", {})
    return Response(
        desired=message.get("desired"),
        results=tuple(message.get("results", ())),
        context=message.get("context"),
        requirements=message.get("requirements"),
        conditions=tuple(message.get("conditions", ())),
        ttl=meta.get("ttl"),
        tag=meta.get("tag", ""),
        output=message.get("output"),
    )


def read_request(value: Object) -> Request:
    """Decode a request; raises MessageError."""
    message = _REQUEST(value)
    meta = message.pop("meta", {})
    observed = message.pop("observed", NO_STATE)
    capabilities = tuple(meta.get("capabilities", CAPABILITIES))
    return Request(observed, **message, capabilities=capabilities, tag=meta.get("tag"))


def _invalid(value: Any, kind: str) -> NoReturn:
    from crossply.values import gojson

    try:
        text = gojson.dumps(value)
    except gojson.JsonError as error:  # infinity or NaN
        text = str(error)
    raise MessageError(f"proto: invalid value for {kind} field: {text}")


def _message(fields: Mapping[str, Reader]) -> Reader:
    """A decoder of an object by its protobuf field names; null fields are absent."""
    names = {**{_camel(name): name for name in fields}, **{name: name for name in fields}}

    def read(value: Any) -> Object:
        if not isinstance(value, dict):
            _invalid(value, "message")
        message: Object = {}
        for key in sorted(value):
            name = names.get(key)
            if name is None:
                raise MessageError(f'proto: unknown field "{key}"')
            if name in message:
                raise MessageError(f'proto: duplicate field "{key}"')
            if value[key] is not None:
                message[name] = fields[name](value[key])
        return message

    return read


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _invalid(value, "string")


def _object(value: Any) -> Object:
    return value if isinstance(value, dict) else _invalid(value, "google.protobuf.Struct")


def _bytes(value: Any) -> bytes:
    import base64
    import binascii

    text = _text(value).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        _invalid(value, "bytes")


def _enum(numbers: Mapping[str, int]) -> Reader:
    def read(value: Any) -> int:
        if isinstance(value, str) and value in numbers:
            return numbers[value]
        if isinstance(value, bool) or not isinstance(value, int | float) or not -(2**31) <= value < 2**31:
            _invalid(value, "enum")
        return int(value) if value == int(value) else _invalid(value, "enum")

    return read


def _duration(value: Any) -> int:
    from decimal import Decimal, InvalidOperation

    text = _text(value)
    try:
        seconds = Decimal(text.removesuffix("s"))
        is_valid = text.endswith("s") and abs(seconds) <= _MAX_DURATION
    except InvalidOperation:
        is_valid = False
    return int(seconds * SECOND) if is_valid else _invalid(value, "google.protobuf.Duration")


def _list(item: Reader) -> Reader:
    def read(value: Any) -> list[Any]:
        return (
            [item(element) for element in value] if isinstance(value, list) else _invalid(value, "repeated")
        )

    return read


def _map(item: Reader) -> Reader:
    def read(value: Any) -> Object:
        if not isinstance(value, dict):
            _invalid(value, "map")
        return {name: item(element) for name, element in value.items()}

    return read


def _converted(convert: Callable[[Object], Any], fields: Mapping[str, Reader]) -> Reader:
    read = _message(fields)
    return lambda value: convert(read(value))


def _result(message: Object) -> Result:
    return Result(
        message.get("severity", 0), message.get("message", ""), message.get("reason"), message.get("target")
    )


def _condition(message: Object) -> Condition:
    kind, reason = message.get("type", ""), message.get("reason", "")
    return Condition(kind, message.get("status", 0), reason, message.get("message"), message.get("target"))


def _selector(message: Object) -> ResourceSelector:
    labels = message.get("match_labels", {}).get("labels", {}) if "match_labels" in message else None
    kind = (message.get("api_version", ""), message.get("kind", ""))
    return ResourceSelector(*kind, message.get("match_name"), labels, message.get("namespace"))


_RESOURCE = _converted(
    lambda message: Resource(
        message.get("resource", {}), message.get("connection_details", {}), message.get("ready", 0)
    ),
    {"resource": _object, "connection_details": _map(_bytes), "ready": _enum(_READY)},
)
_STATE = _converted(
    lambda message: State(message.get("composite"), message.get("resources", {})),
    {"composite": _RESOURCE, "resources": _map(_RESOURCE)},
)
_SELECTORS = _map(
    _converted(
        _selector,
        {
            "api_version": _text,
            "kind": _text,
            "match_name": _text,
            "match_labels": _message({"labels": _map(_text)}),
            "namespace": _text,
        },
    )
)
_SCHEMAS = _map(
    _converted(
        lambda message: SchemaSelector(message.get("api_version", ""), message.get("kind", "")),
        {"api_version": _text, "kind": _text},
    )
)
_REFS = _list(
    _converted(
        lambda message: ResourceRef(
            message.get("api_version", ""),
            message.get("kind", ""),
            message.get("name", ""),
            message.get("namespace"),
        ),
        {"api_version": _text, "kind": _text, "name": _text, "namespace": _text},
    )
)
_REQUIREMENTS = _converted(
    lambda message: Requirements(
        message.get("resources", {}),
        message.get("extra_resources", {}),
        message.get("schemas", {}),
        tuple(message.get("watch_resources", ())),
    ),
    {
        "resources": _SELECTORS,
        "extra_resources": _SELECTORS,
        "schemas": _SCHEMAS,
        "watch_resources": _REFS,
    },
)
_RESPONSE = _message(
    {
        "meta": _message({"tag": _text, "ttl": _duration}),
        "desired": _STATE,
        "results": _list(
            _converted(
                _result,
                {
                    "severity": _enum(_SEVERITY),
                    "message": _text,
                    "reason": _text,
                    "target": _enum(_TARGET),
                },
            )
        ),
        "context": _object,
        "requirements": _REQUIREMENTS,
        "conditions": _list(
            _converted(
                _condition,
                {
                    "type": _text,
                    "status": _enum(_STATUS),
                    "reason": _text,
                    "message": _text,
                    "target": _enum(_TARGET),
                },
            )
        ),
        "output": _object,
    }
)
_RESOURCES = _map(_converted(lambda message: tuple(message.get("items", ())), {"items": _list(_RESOURCE)}))
_CREDENTIALS = _map(
    _converted(
        lambda message: message.get("credential_data", {}).get("data", {}),
        {"credential_data": _message({"data": _map(_bytes)})},
    )
)
_REQUEST = _message(
    {
        "meta": _message({"tag": _text, "capabilities": _list(_enum(_CAPABILITY))}),
        "observed": _STATE,
        "desired": _STATE,
        "input": _object,
        "context": _object,
        "extra_resources": _RESOURCES,
        "credentials": _CREDENTIALS,
        "required_resources": _RESOURCES,
        "required_schemas": _map(
            _converted(lambda message: message.get("openapi_v3"), {"openapi_v3": _object})
        ),
    }
)
