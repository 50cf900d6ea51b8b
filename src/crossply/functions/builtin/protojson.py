"""The messages of functions as people write them: protobuf's JSON, in either spelling of its names.

A message is read by a table of its fields. Numbers of enums may be written as names or numbers, bytes are
base64 of either alphabet, and a duration is seconds with an `s`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from crossply.compose.messages import (
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
_LONGEST_DURATION = 315_576_000_000


class MessageError(Exception):
    """What is written is no such message. Whoever reads it says so: a function by a fatal result."""


def read_response(value: Object) -> Response:
    """The response that an object describes; MessageError says what is wrong with it."""
    said = _RESPONSE(value)
    meta = said.get("meta", {})
    return Response(
        desired=said.get("desired"),
        results=tuple(said.get("results", ())),
        context=said.get("context"),
        requirements=said.get("requirements"),
        conditions=tuple(said.get("conditions", ())),
        ttl=meta.get("ttl"),
        tag=meta.get("tag", ""),
        output=said.get("output"),
    )


def read_request(value: Object) -> Request:
    """The request that an object describes; MessageError says what is wrong with it."""
    said = _REQUEST(value)
    meta = said.pop("meta", {})
    observed = said.pop("observed", NO_STATE)
    capabilities = tuple(meta.get("capabilities", CAPABILITIES))
    return Request(observed, **said, capabilities=capabilities, tag=meta.get("tag"))


def _invalid(value: Any, kind: str) -> NoReturn:
    from crossply.values import gojson

    try:
        text = gojson.dumps(value)
    except gojson.JsonError as error:  # infinity or NaN
        text = str(error)
    raise MessageError(f"proto: invalid value for {kind} field: {text}")


def _message(fields: Mapping[str, Reader]) -> Reader:
    """Reads an object by the names that its fields have in protobuf; null is as good as absent."""
    names = {**{_camel(name): name for name in fields}, **{name: name for name in fields}}

    def read(value: Any) -> Object:
        if not isinstance(value, dict):
            _invalid(value, "message")
        found: Object = {}
        for written in sorted(value):
            name = names.get(written)
            if name is None:
                raise MessageError(f'proto: unknown field "{written}"')
            if name in found:
                raise MessageError(f'proto: duplicate field "{written}"')
            if value[written] is not None:
                found[name] = fields[name](value[written])
        return found

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


def _number_of(numbers: Mapping[str, int]) -> Reader:
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
        readable = text.endswith("s") and abs(seconds) <= _LONGEST_DURATION
    except InvalidOperation:
        readable = False
    return int(seconds * SECOND) if readable else _invalid(value, "google.protobuf.Duration")


def _list(item: Reader) -> Reader:
    def read(value: Any) -> list[Any]:
        return [item(each) for each in value] if isinstance(value, list) else _invalid(value, "repeated")

    return read


def _map(item: Reader) -> Reader:
    def read(value: Any) -> Object:
        if not isinstance(value, dict):
            _invalid(value, "map")
        return {name: item(each) for name, each in value.items()}

    return read


def _made(make: Callable[[Object], Any], fields: Mapping[str, Reader]) -> Reader:
    read = _message(fields)
    return lambda value: make(read(value))


def _result(said: Object) -> Result:
    return Result(said.get("severity", 0), said.get("message", ""), said.get("reason"), said.get("target"))


def _condition(said: Object) -> Condition:
    kind, reason = said.get("type", ""), said.get("reason", "")
    return Condition(kind, said.get("status", 0), reason, said.get("message"), said.get("target"))


def _selector(said: Object) -> ResourceSelector:
    labels = said.get("match_labels", {}).get("labels", {}) if "match_labels" in said else None
    kind = (said.get("api_version", ""), said.get("kind", ""))
    return ResourceSelector(*kind, said.get("match_name"), labels, said.get("namespace"))


_RESOURCE = _made(
    lambda said: Resource(said.get("resource", {}), said.get("connection_details", {}), said.get("ready", 0)),
    {"resource": _object, "connection_details": _map(_bytes), "ready": _number_of(_READY)},
)
_STATE = _made(
    lambda said: State(said.get("composite"), said.get("resources", {})),
    {"composite": _RESOURCE, "resources": _map(_RESOURCE)},
)
_SELECTORS = _map(
    _made(
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
    _made(
        lambda said: SchemaSelector(said.get("api_version", ""), said.get("kind", "")),
        {"api_version": _text, "kind": _text},
    )
)
_REFS = _list(
    _made(
        lambda said: ResourceRef(
            said.get("api_version", ""), said.get("kind", ""), said.get("name", ""), said.get("namespace")
        ),
        {"api_version": _text, "kind": _text, "name": _text, "namespace": _text},
    )
)
_REQUIREMENTS = _made(
    lambda said: Requirements(
        said.get("resources", {}),
        said.get("extra_resources", {}),
        said.get("schemas", {}),
        tuple(said.get("watch_resources", ())),
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
            _made(
                _result,
                {
                    "severity": _number_of(_SEVERITY),
                    "message": _text,
                    "reason": _text,
                    "target": _number_of(_TARGET),
                },
            )
        ),
        "context": _object,
        "requirements": _REQUIREMENTS,
        "conditions": _list(
            _made(
                _condition,
                {
                    "type": _text,
                    "status": _number_of(_STATUS),
                    "reason": _text,
                    "message": _text,
                    "target": _number_of(_TARGET),
                },
            )
        ),
        "output": _object,
    }
)
_RESOURCES = _map(_made(lambda said: tuple(said.get("items", ())), {"items": _list(_RESOURCE)}))
_CREDENTIALS = _map(
    _made(
        lambda said: said.get("credential_data", {}).get("data", {}),
        {"credential_data": _message({"data": _map(_bytes)})},
    )
)
_REQUEST = _message(
    {
        "meta": _message({"tag": _text, "capabilities": _list(_number_of(_CAPABILITY))}),
        "observed": _STATE,
        "desired": _STATE,
        "input": _object,
        "context": _object,
        "extra_resources": _RESOURCES,
        "credentials": _CREDENTIALS,
        "required_resources": _RESOURCES,
        "required_schemas": _map(_made(lambda said: said.get("openapi_v3"), {"openapi_v3": _object})),
    }
)
