"""Messages that are one value in JSON: times, quantities, IntOrString, raw JSON."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson

from crossply.apiserver.protobuf.wire import Malformed, chunk, fields, signed, varint
from crossply.values import quantity
from crossply.values.timestamps import format_timestamp

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INT32 = 1 << 31


class Leaf(NamedTuple):
    """How a message is read as a value, and written. None is omitted in JSON."""

    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]


def text(value: Any) -> str:
    if not isinstance(value, bytes):
        raise Malformed("a number in place of a text")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("invalid UTF-8") from None


def int32(value: int) -> int:
    """A varint as Go's int32."""
    return ((value + _INT32) & 0xFFFF_FFFF) - _INT32


def _values(data: bytes) -> dict[int, Any]:
    return {number: value for number, _, value in fields(data)}


def _number(values: dict[int, Any], number: int) -> int:
    value = values.get(number, 0)
    if not isinstance(value, int):
        raise Malformed("a text in place of a number")
    return signed(value)


def _time(data: bytes) -> datetime:
    values = _values(data)
    seconds, nanos = _number(values, 1), int32(_number(values, 2))
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError:
        raise Malformed("a time out of range") from None


def _read_time(data: bytes) -> str | None:
    """A time in seconds; an empty message is None."""
    return format_timestamp(_time(data)) if data else None


def _read_micro_time(data: bytes) -> str | None:
    if not data:
        return None
    return format_timestamp(_time(data), "microseconds")


def _write_time(value: str) -> bytes:
    """A Timestamp: seconds, and nanoseconds where the text has a fraction."""
    since = datetime.fromisoformat(value) - _EPOCH
    seconds, nanos = since.days * 86400 + since.seconds, since.microseconds * 1000
    return b"\x08" + varint(seconds) + b"\x10" + varint(nanos)


def _read_quantity(data: bytes) -> str:
    value_text = text(_values(data).get(1, b"0"))
    try:
        quantity.parse(value_text)
    except quantity.QuantityError as problem:
        raise Malformed(str(problem)) from None
    return value_text


def _write_quantity(value: Any) -> bytes:
    return chunk(1, str(value).encode())


def _read_number_or_text(data: bytes) -> int | str:
    values = _values(data)
    return text(values.get(3, b"")) if values.get(1) else int32(_number(values, 2))


def _write_number_or_text(value: int | str) -> bytes:
    if isinstance(value, str):
        return b"\x08\x01" + chunk(3, value.encode())
    return b"\x08\x00\x10" + varint(value)


def _read_raw_json(data: bytes) -> Any:
    raw = _values(data).get(1, b"")
    if not raw:
        return None
    try:
        return orjson.loads(raw)
    except (orjson.JSONDecodeError, TypeError):
        raise Malformed("raw JSON that is none") from None


def _write_raw_json(value: Any) -> bytes:
    return chunk(1, orjson.dumps(value, option=orjson.OPT_SORT_KEYS))


def _read_items(data: bytes) -> list[str]:
    return [text(value) for number, _, value in fields(data) if number == 1]


def _write_items(value: list[str]) -> bytes:
    return b"".join(chunk(1, item.encode()) for item in value)


_RAW = Leaf(_read_raw_json, _write_raw_json)
_ITEMS = Leaf(_read_items, _write_items)

LEAVES: dict[str, Leaf] = {
    f"{_META}Time": Leaf(_read_time, _write_time),
    f"{_META}MicroTime": Leaf(_read_micro_time, _write_time),
    f"{_META}FieldsV1": _RAW,
    "io.k8s.apimachinery.pkg.runtime.RawExtension": _RAW,
    "io.k8s.apimachinery.pkg.api.resource.Quantity": Leaf(_read_quantity, _write_quantity),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": Leaf(_read_number_or_text, _write_number_or_text),
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": _RAW,
    "io.k8s.api.authentication.v1.ExtraValue": _ITEMS,
    "io.k8s.api.authorization.v1.ExtraValue": _ITEMS,
    "io.k8s.api.certificates.v1.ExtraValue": _ITEMS,
}
"""Scalar messages by name."""
