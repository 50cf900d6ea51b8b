"""The module `json`."""

from __future__ import annotations

import json
import math
from typing import Any

from crossply.functions.builtin.starlark.language.arguments import (
    ANY,
    MISSING,
    STRING,
    Positional,
    Signature,
    optional,
    required,
)
from crossply.functions.builtin.starlark.language.attributes import attribute_names, find_attribute
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.freezing_and_iteration import elements_of, is_iterable
from crossply.functions.builtin.starlark.language.values import (
    ApplicationValue,
    AttrDict,
    Builtin,
    Module,
    Struct,
    Value,
    format_float,
    to_repr,
    type_name,
)
from crossply.values.goquote import quote_rune

_DECODE = Signature("json.decode", required("x", STRING), optional("default"))
_LAYOUT = (optional("prefix", STRING, ""), optional("indent", STRING, "\t"))
_GO_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def encode(value: Value) -> str:
    """The JSON of a value, with sorted keys."""
    return _encoded(value, ())


def _encoded(value: Value, path: tuple[int, ...]) -> str:
    kind = value.__class__
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if kind is str:
        return _quoted(value)
    if kind is float:
        if not math.isfinite(value):
            raise EvalError(f"cannot encode non-finite float {to_repr(value)}")
        return format_float(value)
    if id(value) in path:
        raise EvalError("cycle in JSON structure")
    inner = (*path, id(value))
    if isinstance(value, dict) and not isinstance(value, AttrDict):
        return _object(value, inner)
    if is_iterable(value):
        elements = (_element(value, item, index, inner) for index, item in enumerate(elements_of(value)))
        return f"[{','.join(elements)}]"
    if isinstance(value, Struct | Module | ApplicationValue):
        return _attributes(value, inner)
    raise EvalError(f"cannot encode {type_name(value)} as JSON")


def _quoted(text: str) -> str:
    if text.isascii() and text.isprintable():
        return json.dumps(text)
    quoted = json.dumps(
        text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), ensure_ascii=False
    )
    for character, escape in _GO_ESCAPES.items():
        quoted = quoted.replace(character, escape)
    return quoted.replace("\x7f", "\\u007f")


def _object(value: dict[Value, Value], path: tuple[int, ...]) -> str:
    for key in value:
        if key.__class__ is not str:
            raise EvalError(f"{type_name(value)} has {type_name(key)} key, want string")
    members = []
    for key in sorted(value):
        try:
            members.append(f"{_quoted(key)}:{_encoded(value[key], path)}")
        except EvalError as error:
            raise EvalError(f"in {type_name(value)} key {to_repr(key)}: {error}") from None
    return f"{{{','.join(members)}}}"


def _element(container: Value, item: Value, index: int, path: tuple[int, ...]) -> str:
    try:
        return _encoded(item, path)
    except EvalError as error:
        raise EvalError(f"at {type_name(container)} index {index}: {error}") from None


def _attributes(value: Value, path: tuple[int, ...]) -> str:
    members = []
    for name in attribute_names(value):
        try:
            members.append(f"{_quoted(name)}:{_encoded(find_attribute(value, name), path)}")
        except EvalError as error:
            raise EvalError(f"in field .{name}: {error}") from None
    return f"{{{','.join(members)}}}"


def _encode(args: tuple[Value, ...], kwargs: dict[str, Value], name: str = "json.encode") -> str:
    (value,) = Positional(name, 1, ANY).bind(args, kwargs)
    try:
        return encode(value)
    except EvalError as error:
        raise EvalError(f"{name}: {error}") from None


def _decode(args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    source, default = _DECODE.bind(args, kwargs)
    if not args:
        raise EvalError('json.decode: unexpected keyword argument "x"')
    try:
        return json.loads(source, parse_constant=_refuse_constant, strict=False)
    except json.JSONDecodeError as error:
        if default is not MISSING:
            return default
        raise EvalError(f"json.decode: at offset {error.pos}, {_go_words(error)}") from None
    except (ValueError, RecursionError) as error:
        if default is not MISSING:
            return default
        raise EvalError(f"json.decode: {error}") from None


def _go_words(error: json.JSONDecodeError) -> str:
    """What Go's decoder says, as far as Python's knows it."""
    if error.msg.startswith("Unterminated string"):
        return "unclosed string literal"
    if error.pos >= len(error.doc.rstrip(" \t\r\n")):
        return "unexpected end of file"
    character = quote_rune(ord(error.doc[error.pos]))
    if error.msg == "Extra data":
        return f"unexpected character {character} after value"
    if error.msg == "Expecting ':' delimiter":
        return f"after object key, got {character}, want ':' "
    return f"unexpected character {character}"


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"unexpected {name}")


def _indented(name: str, text: str, kwargs: dict[str, Value]) -> str:
    prefix, indent = Signature(name, *_LAYOUT).bind((), kwargs)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise EvalError(f"{name}: {error}") from None
    return _laid_out(value, prefix, indent, "")


def _laid_out(value: Any, prefix: str, indent: str, before: str) -> str:
    inner = before + indent
    if isinstance(value, dict) and value:
        members = [f"{_quoted(key)}: {_laid_out(item, prefix, indent, inner)}" for key, item in value.items()]
        opening, closing = "{", "}"
    elif isinstance(value, list) and value:
        members = [_laid_out(item, prefix, indent, inner) for item in value]
        opening, closing = "[", "]"
    else:
        return "{}" if value == {} else "[]" if value == [] else _encoded(value, ())
    lines = ",".join(f"\n{prefix}{inner}{member}" for member in members)
    return f"{opening}{lines}\n{prefix}{before}{closing}"


def _indent(args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    (text,) = Positional("json.indent", 1, STRING).bind(args, {})
    return _indented("json.indent", text, kwargs)


def _encode_indent(args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    return _indented("json.encode_indent", _encode(args, {}, "json.encode_indent"), kwargs)


JSON = Module(
    "json",
    {
        "decode": Builtin("json.decode", _decode),
        "encode": Builtin("json.encode", _encode),
        "encode_indent": Builtin("json.encode_indent", _encode_indent),
        "indent": Builtin("json.indent", _indent),
    },
)
