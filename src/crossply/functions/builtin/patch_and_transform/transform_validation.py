"""Validation of transforms, before they are compiled. `validation` does the rest of the input."""

from __future__ import annotations

from crossply.errors import CrossplyError
from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.errors import invalid, required
from crossply.values import Object
from crossply.values.regexp import compile_go

_MATH_FIELDS = {
    "Multiply": ("multiply", "multiply"),
    "ClampMin": ("clampMin", "clamp min"),
    "ClampMax": ("clampMax", "clamp max"),
}
IO_TYPES = frozenset({"string", "bool", "int", "int64", "float64", "object", "array"})
"""The types that a convert transform supports."""

_FORMATS = frozenset({"none", "quantity", "json"})
_STRING_FIELDS = {
    "Format": ("fmt", "format transform requires a format"),
    "Convert": ("convert", "convert transform requires a conversion type"),
    "TrimPrefix": ("trim", "trim transform requires a trim value"),
    "TrimSuffix": ("trim", "trim transform requires a trim value"),
    "Regexp": ("regexp", "regexp transform requires a regexp"),
    "Join": ("join", "join transform requires a join"),
    "Replace": ("replace", "replace transform requires a replace"),
}


def validate_transform(transform: Object, path: str, dialect: Dialect) -> None:
    """Raise FieldError when a transform is incomplete or invalid."""
    kind = transform.get("type", "")
    if kind not in ("math", "map", "match", "string", "convert"):
        raise invalid(f"{path}.type", kind, "unknown transform type")
    path = f"{path}.{kind}"
    settings = transform.get(kind)
    if settings is None:
        raise required(path, f"given transform type {kind} requires configuration")
    if kind == "math":
        validate_math(settings, f"{path}.")
    elif kind == "map":
        _validate_map(settings, path)
    elif kind == "match":
        _validate_match(settings, path, dialect)
    elif kind == "string":
        _validate_string(settings, path, dialect)
    else:
        validate_convert(settings, f"{path}.")


def validate_math(settings: Object, path: str) -> None:
    """Raise FieldError when a math transform is incomplete or invalid."""
    kind = settings.get("type", "")
    if not kind:
        raise required(f"{path}type", "math transform type is required")
    if kind not in _MATH_FIELDS:
        raise invalid(f"{path}type", kind, "unknown math transform type")
    field, words = _MATH_FIELDS[kind]
    if field not in settings:
        raise required(f"{path}{field}", f"must specify a value if a {words} math transform is specified")


def _validate_map(pairs: Object, path: str) -> None:
    if not pairs:
        raise required(f"{path}.pairs", "at least one pair must be specified if a map transform is specified")


def _validate_match(settings: Object, path: str, dialect: Dialect) -> None:
    patterns = settings.get("patterns", [])
    if dialect.needs_patterns and not patterns:
        raise required(
            f"{path}.patterns", "at least one pattern must be specified if a match transform is specified"
        )
    for index, pattern in enumerate(patterns):
        _validate_pattern(pattern, f"{path}.patterns[{index}]")


def _validate_pattern(pattern: Object, path: str) -> None:
    kind = pattern.get("type", "")
    if kind not in ("literal", "regexp", ""):
        raise invalid(f"{path}.type", kind, "unknown pattern type")
    field = kind or "literal"
    if field not in pattern:
        raise required(f"{path}.{field}", f"{field} pattern type requires a {field}")
    if field == "regexp":
        _validate_regexp(pattern["regexp"], f"{path}.regexp")


def _validate_regexp(expression: str, path: str) -> None:
    try:
        compile_go(expression)
    except CrossplyError:
        raise invalid(path, expression, "invalid regexp") from None


def _validate_string(settings: Object, path: str, dialect: Dialect) -> None:
    kind = settings.get("type", "")
    if not kind:
        raise required(f"{path}.type", "string transform type is required")
    if kind not in dialect.string_types:
        raise invalid(f"{path}.type", kind, "unknown string transform type")
    field, problem = _STRING_FIELDS[kind]
    if field not in settings:
        raise required(f"{path}.{field}", problem)
    if kind == "Regexp":
        _validate_match_expression(settings["regexp"], f"{path}.regexp.match")
    if kind == "Replace" and not settings["replace"].get("search"):
        raise required(f"{path}.replace.search", "replace transform requires a search")


def _validate_match_expression(settings: Object, path: str) -> None:
    if not settings.get("match"):
        raise required(path, "regexp transform requires a match")
    _validate_regexp(settings["match"], path)


def validate_convert(settings: Object, path: str) -> None:
    """Raise FieldError when a convert transform has an unknown format or type."""
    if settings.get("format", "none") not in _FORMATS:
        raise invalid(f"{path}format", settings["format"], "invalid format")
    if settings.get("toType", "") not in IO_TYPES:
        raise invalid(f"{path}toType", settings.get("toType", ""), "invalid type")
