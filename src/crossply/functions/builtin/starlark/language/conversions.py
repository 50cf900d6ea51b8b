"""Conversions between numbers, strings and bytes: float(), int(), str(), bytes(), chr(), ord(), hash()."""

from __future__ import annotations

import math

from crossply.functions.builtin.starlark.language import go_strings
from crossply.functions.builtin.starlark.language.arguments import MISSING, Signature, optional, required
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.formatting import to_int
from crossply.functions.builtin.starlark.language.freezing_and_iteration import elements_of, is_iterable
from crossply.functions.builtin.starlark.language.operators import as_int32
from crossply.functions.builtin.starlark.language.values import Value, is_int, to_repr, type_name
from crossply.values.gonumbers import NumberError, parse_float

_MAX_RUNE = 0x10FFFF
_INT = Signature("int", required("x"), optional("base"))
_PREFIXES = {"0o": 8, "0x": 16, "0b": 2}
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def to_float(args: tuple[Value, ...], kwargs: dict[str, Value]) -> float:
    if kwargs:
        raise EvalError("float does not accept keyword arguments")
    if not args:
        return 0.0
    if len(args) != 1:
        raise EvalError(f"float got {len(args)} arguments, wants 1")
    (value,) = args
    if value.__class__ is str:
        return _parsed_float(value)
    if value.__class__ not in (bool, int, float):
        raise EvalError(f"float got {type_name(value)}, want number or string")
    try:
        return float(value)
    except OverflowError:
        raise EvalError("int too large to convert to float") from None


def _parsed_float(literal: str) -> float:
    if not literal:
        raise EvalError("float: empty string")
    try:
        number = parse_float(literal)
    except NumberError as error:
        if "out of range" in str(error):
            raise EvalError("floating-point number too large") from None
        raise EvalError(f"invalid float literal: {literal}") from None
    return math.nan if math.isnan(number) else number


def to_integer(args: tuple[Value, ...], kwargs: dict[str, Value]) -> int:
    value, base = _INT.bind(args, kwargs)
    if value.__class__ is str:
        return _parsed_int(value, _base(base))
    if base is not MISSING:
        raise EvalError("int: can't convert non-string with explicit base")
    if value.__class__ is bool:
        return int(value)
    try:
        return to_int(value)
    except EvalError as error:
        raise EvalError(f"int: {error}") from None


def _base(base: Value) -> int:
    if base is MISSING:
        return 10
    if not is_int(base):
        raise EvalError(f"int: for base, got {type_name(base)}, want int")
    if base != 0 and not 2 <= base <= 36:
        raise EvalError("int: base must be an integer >= 2 && <= 36")
    return int(base)


def _parsed_int(literal: str, base: int) -> int:
    digits = literal[1:] if literal[:1] in ("+", "-") else literal
    used, prefix = base, _PREFIXES.get(digits[:2].lower())
    if len(digits) > 2 and prefix is not None and base in (0, prefix):
        used, digits = prefix, digits[2:]
    elif base == 0:
        used = 10
        if len(digits) > 1 and digits[0] == "0" and digits.strip("0"):
            raise EvalError(f"int: invalid literal with base {base}: {literal}")
    allowed = _DIGITS[:used]
    if not digits or any(character not in allowed for character in digits.lower()):
        raise EvalError(f"int: invalid literal with base {base}: {literal}")
    try:
        number = int(digits, used)
    except ValueError as error:  # thousands of digits
        raise EvalError(f"int: {error}") from None
    return -number if literal.startswith("-") else number


def to_string(value: Value) -> str:
    if value.__class__ is str:
        return str(value)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else to_repr(value)


def to_byte_string(args: tuple[Value, ...], kwargs: dict[str, Value]) -> bytes:
    if kwargs:
        raise EvalError("bytes does not accept keyword arguments")
    if len(args) != 1:
        raise EvalError(f"bytes: got {len(args)} arguments, want exactly 1")
    (value,) = args
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return go_strings.replaced_invalid(value).encode()
    if not is_iterable(value):
        raise EvalError(f"bytes: got {type_name(value)}, want string, bytes, or iterable of ints")
    return bytes(_byte(index, element) for index, element in enumerate(elements_of(value)))


def _byte(index: int, value: Value) -> int:
    if not is_int(value):
        raise EvalError(f"bytes: at index {index}, got {type_name(value)}, want int")
    if not 0 <= value < 256:
        raise EvalError(f"bytes: at index {index}, {value} out of range (want value in unsigned 8-bit range)")
    return int(value)


def to_character(value: Value) -> str:
    try:
        number = as_int32(value)
    except EvalError as error:
        raise EvalError(f"chr: {error}") from None
    if number < 0:
        raise EvalError(f"chr: Unicode code point {number} out of range (<0)")
    if number > _MAX_RUNE:
        raise EvalError(f"chr: Unicode code point U+{number:X} out of range (>0x10FFFF)")
    return "\ufffd" if 0xD800 <= number < 0xE000 else chr(number)


def to_code_point(value: Value) -> int:
    if isinstance(value, str):
        if len(value) != 1:
            raise EvalError(f"ord: string encodes {len(value)} Unicode code points, want 1")
        return ord(value)
    if isinstance(value, bytes):
        if len(value) != 1:
            raise EvalError(f"ord: bytes has length {len(value)}, want 1")
        return value[0]
    raise EvalError(f"ord: got {type_name(value)}, want string or bytes")


def to_hash(value: Value) -> int:
    """The hash of Java for a string, FNV-1a for bytes: the same everywhere."""
    if isinstance(value, str):
        number = 0
        for character in go_strings.replaced_invalid(value):
            number = (31 * number + ord(character)) & 0xFFFFFFFF
        return number - (1 << 32) if number >= 1 << 31 else number
    if not isinstance(value, bytes):
        raise EvalError(f"hash: got {type_name(value)}, want string or bytes")
    number = 2166136261
    for byte in value:
        number = ((number ^ byte) * 16777619) & 0xFFFFFFFF
    return number
