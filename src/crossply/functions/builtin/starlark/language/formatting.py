"""`format % values` and `format.format(values)`."""

from __future__ import annotations

from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.values import (
    Value,
    format_float,
    is_int,
    to_repr,
    to_text,
    type_name,
)
from crossply.values.goquote import quote

_MAX_RUNE = 0x10FFFF


def interpolate(template: str, values: Value) -> str:
    """What `template % values` gives."""
    parts, index = [], 0
    available = values if isinstance(values, tuple) else (values,)
    literal, *rest = template.split("%")
    parts.append(literal)
    while rest:
        directive = rest.pop(0)
        if directive == "" and rest:
            parts += ["%", rest.pop(0)]
            continue
        argument, directive = _argument(directive, values, available, index, rest)
        if not directive:
            raise EvalError("incomplete format")
        parts += [_converted(directive[0], argument), directive[1:]]
        index += 1
    if index < len(available) and not isinstance(values, dict):
        raise EvalError("too many arguments for format string")
    return "".join(parts)


def _argument(
    directive: str, values: Value, available: tuple[Value, ...], index: int, rest: list[str]
) -> tuple[Value, str]:
    """The value of a directive, and what follows its key."""
    if not directive.startswith("("):
        if index >= len(available):
            raise EvalError("not enough arguments for format string")
        return available[index], directive
    while ")" not in directive:
        if not rest:
            raise EvalError("incomplete format key")
        directive += f"%{rest.pop(0)}"
    key, _, directive = directive[1:].partition(")")
    if not isinstance(values, dict):
        raise EvalError("format requires a mapping")
    if key not in values:
        raise EvalError(f"key not found: {key}")
    return values[key], directive


def _converted(conversion: str, value: Value) -> str:
    if conversion == "s":
        return to_text(value)
    if conversion == "r":
        return to_repr(value)
    if conversion in "dioxX":
        number = _integer(conversion, value)
        return f"{number:{'d' if conversion in 'di' else conversion}}"
    if conversion in "efgEFG":
        if value.__class__ not in (int, float):
            raise EvalError(f"%{conversion} format requires float, not {type_name(value)}")
        return format_float(float(value), conversion)
    if conversion == "c":
        return _character(value)
    raise EvalError(f"unknown conversion %{conversion}")


def _integer(conversion: str, value: Value) -> int:
    try:
        return to_int(value)
    except EvalError as error:
        raise EvalError(f"%{conversion} format requires integer: {error}") from None


def to_int(value: Value) -> int:
    """A number without its fraction."""
    if is_int(value):
        return int(value)
    if value.__class__ is not float:
        raise EvalError(f"cannot convert {type_name(value)} to int")
    if value in (float("inf"), float("-inf")):
        raise EvalError("cannot convert float infinity to integer")
    if value != value:
        raise EvalError("cannot convert float NaN to integer")
    return int(value)


def _character(value: Value) -> str:
    if is_int(value):
        if not 0 <= value <= _MAX_RUNE:
            raise EvalError(f"%c format requires a valid Unicode code point, got {value}")
        return chr(value)
    if value.__class__ is not str:
        raise EvalError(f"%c format requires int or single-character string, not {type_name(value)}")
    if len(value) != 1:
        raise EvalError("%c format requires a single-character string")
    return str(value)


class _Fields:
    """The arguments of format(), by position or by number, but not both."""

    def __init__(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        self._args, self._kwargs = args, kwargs
        self._next = 0
        self._numbered = ""

    def value(self, name: str) -> Value:
        if name == "" or (name.isdecimal() and name.isascii()):
            return self._positional(name)
        if name in self._kwargs:
            return self._kwargs[name]
        if "." in name:
            raise EvalError(f"format: attribute syntax x.y is not supported in replacement fields: {name}")
        if "[" in name:
            raise EvalError(f"format: element syntax a[i] is not supported in replacement fields: {name}")
        if "{" in name:
            raise EvalError("format: nested replacement fields not supported")
        raise EvalError(f"format: keyword {name} not found")

    def _positional(self, name: str) -> Value:
        numbered = "manual" if name else "automatic"
        if self._numbered not in ("", numbered):
            kinds = {"manual": "manual field specification", "automatic": "automatic field numbering"}
            raise EvalError(f"format: cannot switch from {kinds[self._numbered]} to {kinds[numbered]}")
        self._numbered = numbered
        index = int(name) if name else self._next
        self._next += 1
        if index >= len(self._args):
            raise EvalError("format: tuple index out of range")
        return self._args[index]


def format_string(template: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    """What `template.format(…)` gives."""
    fields, parts = _Fields(args, kwargs), []
    while True:
        literal, brace, template = template.partition("{")
        parts.append(_literal(literal))
        if not brace:
            return "".join(parts)
        if template.startswith("{"):
            parts.append("{")
            template = template[1:]
            continue
        field, brace, template = template.partition("}")
        if not brace:
            raise EvalError("format: unmatched '{' in format")
        parts.append(_field(field, fields))


def _literal(text: str) -> str:
    """Text outside of fields, where a brace is doubled."""
    if "}" in text.replace("}}", ""):
        raise EvalError("format: single '}' in format")
    return text.replace("}}", "}")


def _field(field: str, fields: _Fields) -> str:
    name, mark, conversion = field.partition("!")
    name, _, spec = name.partition(":") if not mark else (name, "", "")
    if mark:
        conversion, _, spec = conversion.partition(":")
    value = fields.value(name)
    if spec:
        raise EvalError(f"format spec features not supported in replacement fields: {spec}")
    if conversion == "r":
        return to_repr(value)
    if conversion not in ("", "s") or (mark and not conversion):
        raise EvalError(f"format: unknown conversion {quote(conversion)}")
    return to_text(value)
