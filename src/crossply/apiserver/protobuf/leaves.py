"""Messages that are one value in JSON: times, quantities, numbers or text, raw JSON."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from crossply.apiserver.protobuf.wire import Malformed, fields, signed

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _values(data: bytes) -> dict[int, Any]:
    return {number: value for number, _, value in fields(data)}


def _moment(data: bytes) -> datetime | None:
    """The moment of a Timestamp; an empty one is no time at all."""
    if not data:
        return None
    values = _values(data)
    try:
        seconds = timedelta(seconds=signed(values.get(1, 0)), microseconds=signed(values.get(2, 0)) // 1000)
        return _EPOCH + seconds
    except OverflowError:
        raise Malformed("a time out of range") from None


def _time(data: bytes) -> str | None:
    moment = _moment(data)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _micro_time(data: bytes) -> str | None:
    moment = _moment(data)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _quantity(data: bytes) -> str:
    return text(_values(data).get(1, b""))


def _number_or_text(data: bytes) -> int | str:
    values = _values(data)
    return text(values.get(3, b"")) if values.get(1) else signed(values.get(2, 0))


def _raw_json(data: bytes) -> Any:
    raw = _values(data).get(1, b"")
    if not raw:
        return None
    try:
        return orjson.loads(raw)
    except (orjson.JSONDecodeError, TypeError):
        raise Malformed("raw JSON that is none") from None


def _items(data: bytes) -> list[str]:
    return [text(value) for number, _, value in fields(data) if number == 1]


def text(value: Any) -> str:
    """A string field."""
    if not isinstance(value, bytes):
        raise Malformed("a number in place of a text")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("invalid UTF-8") from None


LEAVES: dict[str, Callable[[bytes], Any]] = {
    f"{_META}Time": _time,
    f"{_META}MicroTime": _micro_time,
    f"{_META}FieldsV1": _raw_json,
    "io.k8s.apimachinery.pkg.runtime.RawExtension": _raw_json,
    "io.k8s.apimachinery.pkg.api.resource.Quantity": _quantity,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": _number_or_text,
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": _raw_json,
    "io.k8s.api.authentication.v1.ExtraValue": _items,
    "io.k8s.api.authorization.v1.ExtraValue": _items,
    "io.k8s.api.certificates.v1.ExtraValue": _items,
}
"""Messages that are read here, by name."""
