"""Quantities and URLs of Kubernetes, and the functions that kro adds: seeded randomness, JSON, `omit()`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from crossply.errors import CrossplyError
from crossply.functions.builtin.kro.cel.native import to_native
from crossply.functions.builtin.kro.cel.overload_declarations import QUANTITY, URL
from crossply.functions.builtin.kro.cel.values import (
    OMIT,
    EvaluationError,
    NoSuchOverload,
    Opaque,
)
from crossply.schema import cel_network, cel_quantity
from crossply.values.gojson import dumps, loads

_CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_MOST_CHARACTERS = 1 << 20


def _opaque(name: str, function: Callable[..., Any], makes: bool = False) -> Callable[..., Any]:
    """A function on quantities or URLs, of the library of validation rules."""

    def call(value: Any, *others: Any) -> Any:
        if not isinstance(value, Opaque) or value.type_name != name:
            raise NoSuchOverload
        contents = [_content(name, other) for other in others]
        result = _guarded(function, value.content, *contents)
        return Opaque(name, result) if makes else result

    return call


def _content(name: str, value: Any) -> Any:
    if isinstance(value, Opaque) and value.type_name == name:
        return value.content
    if type(value) is int:
        return value
    raise NoSuchOverload


def _reading(name: str, function: Callable[[str], Any]) -> Callable[[Any], Any]:
    """A function that reads a text."""

    def call(text: Any) -> Any:
        if not isinstance(text, str):
            raise NoSuchOverload
        result = _guarded(function, text)
        return result if isinstance(result, bool) else Opaque(name, result)

    return call


def _guarded(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


def _seeded_string(length: Any, seed: Any) -> str:
    if type(length) is not int:
        raise EvaluationError("random.seededString length must be an integer")
    if length <= 0:
        raise EvaluationError("random.seededString length must be positive")
    if length > _MOST_CHARACTERS:
        raise EvaluationError(f"random.seededString length must be at most {_MOST_CHARACTERS}")
    if not isinstance(seed, str):
        raise EvaluationError("random.seededString seed must be a string")
    digest = sha256(seed.encode("utf-8", "surrogatepass")).digest()
    # Four bytes choose a character, and the eight words of the hash repeat.
    words = [int.from_bytes(digest[at : at + 4], "big") for at in range(0, len(digest), 4)]
    return "".join(_CHARACTERS[words[at % len(words)] % len(_CHARACTERS)] for at in range(length))


def _seeded_int(least: Any, most: Any, seed: Any) -> int:
    for name, bound in (("min", least), ("max", most)):
        if type(bound) is not int:
            raise EvaluationError(f"random.seededInt {name} must be an integer")
    if not isinstance(seed, str):
        raise EvaluationError("random.seededInt seed must be a string")
    if least >= most:
        raise EvaluationError("random.seededInt min must be less than max")
    word = int.from_bytes(sha256(seed.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return int(least + word % (most - least))


def _marshal(value: Any) -> str:
    try:
        return dumps(_encodable(to_native(value)))
    except EvaluationError as error:
        raise EvaluationError(f"json.marshal failed to convert value: {error}") from None
    except CrossplyError as error:
        raise EvaluationError(f"json.marshal failed to encode value: {error}") from None


def _encodable(value: Any) -> Any:
    """Data that JSON has: bytes are base64, what `omit()` leaves is an empty object."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if value is OMIT:
        return {}
    if isinstance(value, dict):
        return {key: _encodable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _unmarshal(text: Any) -> Any:
    if not isinstance(text, str):
        raise EvaluationError("json.unmarshal argument must be a string")
    try:
        return _floats(loads(text))
    except CrossplyError as error:
        raise EvaluationError(f"json.unmarshal failed to parse JSON: {error}") from None


def _floats(value: Any) -> Any:
    """JSON as Go reads it where it knows no type: every number is a double."""
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


LIBRARY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "quantity": _reading(QUANTITY, cel_quantity.quantity),
    "isQuantity": _reading(QUANTITY, cel_quantity.is_quantity),
    "sign": _opaque(QUANTITY, cel_quantity.sign),
    "isInteger": _opaque(QUANTITY, cel_quantity.is_integer),
    "asInteger": _opaque(QUANTITY, cel_quantity.as_integer),
    "asApproximateFloat": _opaque(QUANTITY, cel_quantity.as_float),
    "add": _opaque(QUANTITY, cel_quantity.add, makes=True),
    "sub": _opaque(QUANTITY, cel_quantity.subtract, makes=True),
    "isGreaterThan": _opaque(QUANTITY, lambda one, other: cel_quantity.compare(one, other) > 0),
    "isLessThan": _opaque(QUANTITY, lambda one, other: cel_quantity.compare(one, other) < 0),
    "compareTo": _opaque(QUANTITY, cel_quantity.compare),
    "url": _reading(URL, cel_network.url),
    "isURL": _reading(URL, cel_network.is_url),
    "getScheme": _opaque(URL, cel_network.url_part("scheme")),
    "getHost": _opaque(URL, cel_network.url_part("host")),
    "getHostname": _opaque(URL, cel_network.url_part("hostname")),
    "getPort": _opaque(URL, cel_network.url_part("port")),
    "getEscapedPath": _opaque(URL, cel_network.url_part("path")),
    "getQuery": _opaque(URL, cel_network.url_query),
    "random.seededString": _seeded_string,
    "random.seededInt": _seeded_int,
    "json.marshal": _marshal,
    "json.encode": _marshal,
    "json.unmarshal": _unmarshal,
    "omit": lambda: OMIT,
}
