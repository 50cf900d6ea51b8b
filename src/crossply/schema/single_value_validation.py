"""The checks of one value by itself: type, enum, text, format, size of a list; and their result."""

from __future__ import annotations

import math
from typing import Any

from crossply.schema.field_errors import (
    INVALID,
    TYPE_INVALID,
    FieldError,
    quote,
    too_long,
    too_many,
    unsupported,
)
from crossply.values import Object


class Result:
    """Errors by their sentence (the same one is reported once), and the count that ranks alternatives."""

    __slots__ = ("errors", "matches")

    def __init__(self) -> None:
        self.errors: dict[str, FieldError] = {}
        self.matches = 0

    def add(self, error: FieldError, sentence: str) -> None:
        """Add an error unless one with the same sentence is there."""
        self.errors.setdefault(sentence, error)

    def complain(self, sentence: str) -> None:
        """Add an error that names its field only in its sentence."""
        self.errors.setdefault(sentence, FieldError(INVALID, "", "", sentence))

    def merge(self, other: Result) -> None:
        """Add the result of another node."""
        for sentence, error in other.errors.items():
            self.errors.setdefault(sentence, error)
        self.matches += other.matches


_LARGEST_JSON_INTEGER = float(2**53 - 1)
_TOLERANCE = 1e-9


def types_of(schema: Object) -> tuple[str, ...]:
    """Return the types a schema allows; an int-or-string schema allows both, whatever its type is."""
    if schema.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    named = schema.get("type")
    return (named,) if named else ()


def format_of(schema: Object) -> str:
    """Return the format of a schema if it is one that is checked."""
    name: str = schema.get("format") or ""
    if not name:
        return ""
    from crossply.schema.formats import is_checked

    return name if is_checked(name) else ""


def has_type_or_format(schema: Object) -> bool:
    """Return whether there is anything to check about the type of a value."""
    return bool(types_of(schema) or format_of(schema))


def type_name(value: Any) -> str:
    """Return the JSON type of a value that is not null."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "array" if isinstance(value, list) else "object"


def check_type(result: Result, value: Any, schema: Object, path: str) -> None:
    """Check the type of a value; counts a match when it is right."""
    types, nullable = types_of(schema), schema.get("nullable")
    if value is None:
        if types and not nullable:
            wrong_type(result, path, ",".join(types), "null")
        else:
            result.matches += 1
        return
    mismatch = _type_problem(value, types, format_of(schema))
    if mismatch:
        wrong_type(result, path, *mismatch)
    else:
        result.matches += 1


def _type_problem(value: Any, types: tuple[str, ...], form: str) -> tuple[str, str] | None:
    actual = type_name(value)
    fits = (
        actual in types
        or (actual == "integer" and "number" in types)
        or (actual == "number" and "integer" in types and is_integral(value))
    )
    if form and not fits and not isinstance(value, str | list):
        return form, {"integer": "int64", "number": "float64"}.get(actual, "")
    if form and isinstance(value, str | list) and "number" not in types and "integer" not in types:
        return None
    return None if fits else (",".join(types), actual)


def wrong_type(result: Result, path: str, expected: str, actual: str) -> None:
    """Report a value of the wrong type or format."""
    sentence = f"{path} in body must be of type {expected}: {quote(actual)}"
    result.add(FieldError(TYPE_INVALID, path, actual, sentence), sentence)


def is_integral(number: float) -> bool:
    """Return whether a float is an integer in JSON."""
    if not math.isfinite(number) or abs(number) > _LARGEST_JSON_INTEGER:
        return False
    integer = float(int(number))
    if number == integer:
        return True
    if number < 0 or integer == 0:
        return False
    return abs(number - integer) / (number + integer) < _TOLERANCE


def check_text(result: Result, value: str, schema: Object, path: str) -> None:
    """Check length and pattern; the first that fails is the only one reported."""
    highest, lowest, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if highest is not None and len(value) > highest:
        result.add(too_long(path, highest), f"{path} in body should be at most {highest} chars long")
    elif lowest is not None and len(value) < lowest:
        _invalid(result, path, value, f"{path} in body should be at least {lowest} chars long")
    elif pattern and (unmatched := _unmatched(pattern, value)):
        _invalid(result, path, value, f"{path} in body should match '{unmatched}'")


def _unmatched(pattern: str, value: str) -> str:
    from crossply.errors import CrossplyError
    from crossply.values.regexp import compile_go

    try:
        return "" if compile_go(pattern).search(value) else pattern
    except CrossplyError as problem:
        return f"{pattern}, but pattern is invalid: {problem}"


def check_format(result: Result, value: str, schema: Object, path: str) -> bool:
    """Check the format of a text; return whether the schema has one."""
    name = format_of(schema)
    if not name:
        return False
    from crossply.schema.formats import matches_format

    if not matches_format(name, value):
        wrong_type(result, path, name, value)
    return True


def check_list_size(result: Result, value: list[Any], schema: Object, path: str) -> None:
    """Check how many items a list has, and whether they differ."""
    lowest, highest = schema.get("minItems"), schema.get("maxItems")
    if lowest is not None and len(value) < lowest:
        _invalid(result, path, len(value), f"{path} in body should have at least {lowest} items")
    if highest is not None and len(value) > highest:
        result.add(too_many(path, len(value), highest), f"{path} in body should have at most {highest} items")
    if schema.get("uniqueItems") and _has_duplicates(value):
        _invalid(result, path, "", f"{path} in body shouldn't contain duplicates")


def _has_duplicates(value: list[Any]) -> bool:
    identities = set()
    for item in value:
        key = identity(item)
        if key in identities:
            return True
        identities.add(key)
    return False


def identity(value: Any) -> Any:
    """Return something hashable that is equal for equal JSON values only: true is not 1, 1 is not 1.0."""
    if isinstance(value, dict):
        return ("object", tuple(sorted((name, identity(member)) for name, member in value.items())))
    if isinstance(value, list):
        return ("array", tuple(identity(item) for item in value))
    return (type(value).__name__, value)


def check_enum(result: Result, value: Any, schema: Object, path: str) -> None:
    """Check that a value is one of those listed."""
    allowed = schema.get("enum")
    if not allowed or _is_one_of(value, allowed):
        return
    from crossply.values.gojson import dumps

    shown = [option if isinstance(option, str) else dumps(option) for option in allowed]
    error = unsupported(path, value, shown)
    # The list may be long: all errors about it share one text, and the sentence has only its hash.
    result.add(error, f"{path} in body should be one of {hash(error.detail)}")


def _is_one_of(value: Any, allowed: list[Any]) -> bool:
    if isinstance(value, str):
        return value in allowed  # no other type equals a string, and there may be thousands of both
    return any(_equals(value, option) for option in allowed)


def _equals(value: Any, allowed: Any) -> bool:
    # Kubernetes converts the value to the type of the listed one before it compares.
    if value is None or allowed is None:
        return False
    if isinstance(value, bool) or isinstance(allowed, bool):
        return value is allowed
    if isinstance(value, int | float) and isinstance(allowed, int):
        return math.isfinite(value) and int(value) == allowed
    if isinstance(value, int | float) and isinstance(allowed, float):
        return float(value) == allowed
    if isinstance(value, int) and isinstance(allowed, str):
        return 0 <= value <= 0x10FFFF and chr(value) == allowed
    return type(value) is type(allowed) and identity(value) == identity(allowed)


def _invalid(result: Result, path: str, value: Any, sentence: str) -> None:
    result.add(FieldError(INVALID, path, value, sentence), sentence)
