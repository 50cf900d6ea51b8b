"""The module `yaml`: YAML as the tools of Kubernetes read and write it."""

from __future__ import annotations

from typing import Any

from crossply.errors import CrossplyError
from crossply.functions.builtin.starlark.language.arguments import STRING, Signature, required
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.values import Builtin, Module, Value, type_name
from crossply.values import yaml

_MAX_DOCUMENTS = 256
_ENCODE = Signature("yaml.encode", required("value"))
_DECODE = Signature("yaml.decode", required("s", STRING))
_DECODE_STREAM = Signature("yaml.decode_stream", required("s", STRING))


def _plain(value: Value) -> Any:
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise EvalError(f"yaml.encode: integer overflow: {value}")
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        raise EvalError(f"yaml.encode: unsupported type {type_name(value)}")
    for key in value:
        if not isinstance(key, str):
            raise EvalError(f"yaml.encode: dict key is {type_name(key)}, want string")
    return {key: _plain(item) for key, item in value.items()}


def _encode(args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    (value,) = _ENCODE.bind(args, kwargs)
    return yaml.dump(_plain(value)).rstrip("\n")


def _decode(args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    (text,) = _DECODE.bind(args, kwargs)
    return _decoded(text)


def _decoded(text: str) -> Value:
    try:
        return yaml.load(text)
    except CrossplyError as error:
        raise EvalError(f"yaml.decode: {error}") from None


def _decode_stream(args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[Value]:
    (text,) = _DECODE_STREAM.bind(args, kwargs)
    documents: list[str] = [""]
    for line in text.split("\n"):
        if line.rstrip(" \t") == "---":
            documents.append("")
        else:
            documents[-1] += f"\n{line}" if documents[-1] else line
    documents = [document for document in documents if document]
    if len(documents) > _MAX_DOCUMENTS:
        raise EvalError(
            f"yaml.decode_stream: input contains {len(documents)} documents, maximum is {_MAX_DOCUMENTS}"
        )
    return [_decoded(document) for document in documents if document.strip()]


YAML = Module(
    "yaml",
    {
        "encode": Builtin("yaml.encode", _encode),
        "decode": Builtin("yaml.decode", _decode),
        "decode_stream": Builtin("yaml.decode_stream", _decode_stream),
    },
)
