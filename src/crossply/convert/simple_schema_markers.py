"""The markers of a SimpleSchema field: `string | required=true default="x" description="what it is for"`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.convert.conversion_result import ConversionError
from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.gojson import JsonError, loads
from crossply.values.gonumbers import NumberError, parse_bool, parse_float, parse_int
from crossply.values.goquote import quote


class Marker(NamedTuple):
    """A word about a field, and its value as text."""

    name: str
    value: str


def parse_markers(text: str) -> list[Marker]:
    """Read `name=value` pairs; a value may be in quotes, or JSON in brackets."""
    markers: list[Marker] = []
    name, buffer = "", ""
    in_quotes = escaped = False
    brackets = 0
    for char in text:
        outside = not in_quotes and brackets == 0
        if char == "=" and not name and outside:
            name, buffer = _known(buffer.strip()), ""
            continue
        if outside and char.isspace():
            if name:
                markers.append(Marker(name, _unquoted(buffer)))
                name, buffer = "", ""
            continue
        buffer += char
        if char == '"' and not escaped:
            in_quotes = not in_quotes
        elif not in_quotes and char in "{}[]":
            brackets += 1 if char in "{[" else -1
            if brackets < 0:
                raise ConversionError("unmatched closing bracket/brace")
        escaped = char == "\\" and in_quotes and not escaped
    if not name:
        raise ConversionError(f"marker key '{buffer}' without a value", hint="a marker is written name=value")
    if in_quotes:
        raise ConversionError("unclosed quote")
    if brackets:
        raise ConversionError("unclosed bracket/brace")
    return [*markers, Marker(name, _unquoted(buffer))]


def _known(name: str) -> str:
    if not name:
        raise ConversionError("empty marker key")
    if name not in _MARKERS:
        known = ", ".join(_MARKERS)
        raise ConversionError(
            f"invalid marker key {quote(name)}: unknown marker: {name}", hint=f"markers are {known}"
        )
    return name


def _unquoted(value: str) -> str:
    if len(value) < 2 or not (value.startswith('"') and value.endswith('"')):
        return value.strip()
    text, escaped = "", False
    for char in value[1:-1]:
        if escaped:
            text += char if char in '"\\' else f"\\{char}"
            escaped = False
        elif char == "\\":
            escaped = True
        else:
            text += char
    return text


def apply_marker(schema: Object, marker: Marker) -> bool:
    """Let a marker change the schema of its field; true when the field becomes required by it."""
    if marker.name == "required":
        return _flag("required", marker.value)
    _MARKERS[marker.name](schema, marker.value)
    return False


def _default(schema: Object, value: str) -> None:
    type_ = schema.get("type", "")
    if type_ == "string":
        schema["default"] = value
        return
    try:
        default = _READERS.get(type_, loads)(value)
    except (NumberError, JsonError):
        kind = type_ if type_ in _READERS else "JSON"
        raise ConversionError(f"default value must be a valid {kind}, got: {value}") from None
    schema["default"] = default


_READERS: dict[str, Callable[[str], Any]] = {
    "integer": parse_int,
    "number": lambda text: _as_integer(parse_float(text)),
    "boolean": parse_bool,
}


def _as_integer(number: float) -> int | float:
    return int(number) if number.is_integer() else number


def _description(schema: Object, value: str) -> None:
    if value:
        schema["description"] = value


def _limit(name: str) -> Callable[[Object, str], None]:
    def apply(schema: Object, value: str) -> None:
        schema[name] = _as_integer(_parsed(parse_float, value, f"failed to parse {name} enum value"))

    return apply


def _count(name: str, type_: str) -> Callable[[Object, str], None]:
    def apply(schema: Object, value: str) -> None:
        _only_for(name, type_, schema)
        schema[name] = _parsed(parse_int, value, f"failed to parse {name} value")

    return apply


def _validation(schema: Object, value: str) -> None:
    if not value.strip():
        raise ConversionError("validation failed", hint="a validation is a CEL expression")
    _add_rule(schema, value, "validation failed")


def _immutable(schema: Object, value: str) -> None:
    if _flag("immutable", value):
        _add_rule(schema, "self == oldSelf", "field is immutable")


def _add_rule(schema: Object, rule: str, message: str) -> None:
    rules = schema.get("x-kubernetes-validations", [])
    schema["x-kubernetes-validations"] = [*rules, {"rule": rule, "message": message}]


def _enum(schema: Object, value: str) -> None:
    schema["enum"] = [_enum_value(schema.get("type", ""), item.strip()) for item in value.split(",")]


def _enum_value(type_: str, item: str) -> str | int:
    if not item:
        raise ConversionError("empty enum values are not allowed")
    if type_ == "string":
        return item
    if type_ == "integer":
        return int(_parsed(parse_int, item, "failed to parse integer enum value"))
    raise ConversionError(f"enum values only supported for string and integer types, got type: {type_}")


def _pattern(schema: Object, value: str) -> None:
    if not value:
        raise ConversionError("pattern marker value cannot be empty")
    _only_for("pattern", "string", schema)
    from crossply.values.regexp import compile_go

    _parsed(compile_go, value, "invalid pattern regex")
    schema["pattern"] = value


def _unique(schema: Object, value: str) -> None:
    is_unique = _flag("uniqueItems", value)
    _only_for("uniqueItems", "array", schema)
    if is_unique:
        schema["x-kubernetes-list-type"] = "set"


def _only_for(name: str, expected: str, schema: Object) -> None:
    actual = schema.get("type", "")
    if actual != expected:
        raise ConversionError(f"{name} marker is only valid for {expected} types, got type: {actual}")


def _flag(name: str, value: str) -> bool:
    return bool(_parsed(parse_bool, value, f"failed to parse {name} marker value"))


def _parsed(parse: Callable[[str], Any], value: str, context: str) -> Any:
    try:
        return parse(value)
    except CrossplyError as problem:
        raise ConversionError(f"{context}: {problem}") from None


def _nothing(_schema: Object, _value: str) -> None:
    """`required` is a matter of the object that has the field."""


_MARKERS: dict[str, Callable[[Object, str], None]] = {
    "required": _nothing,
    "default": _default,
    "description": _description,
    "minimum": _limit("minimum"),
    "maximum": _limit("maximum"),
    "validation": _validation,
    "enum": _enum,
    "immutable": _immutable,
    "pattern": _pattern,
    "uniqueItems": _unique,
    "minLength": _count("minLength", "string"),
    "maxLength": _count("maxLength", "string"),
    "minItems": _count("minItems", "array"),
    "maxItems": _count("maxItems", "array"),
}
