"""The module `dict`, which can also be called, as the function that it hides."""

from __future__ import annotations

from typing import ClassVar

from crossply.functions.builtin.starlark.language.arguments import (
    ANY,
    LIST,
    STRING,
    Signature,
    optional,
    required,
)
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.universe import UNIVERSE
from crossply.functions.builtin.starlark.language.values import (
    ApplicationValue,
    Builtin,
    Value,
    type_name,
)
from crossply.values.goquote import quote

_MAX_DEPTH = 32


def _items(function: str, value: Value) -> dict[Value, Value]:
    if not isinstance(value, dict):
        raise EvalError(f"{function}: got {type_name(value)}, want dict")
    return value


def _dicts(function: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> tuple[Value, ...]:
    if kwargs:
        raise EvalError(f"{function}: unexpected keyword arguments")
    if len(args) < 2:
        raise EvalError(f"{function}: requires at least 2 arguments, got {len(args)}")
    return args


def _merge(args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[Value, Value]:
    merged: dict[Value, Value] = {}
    for one in _dicts("dict.merge", args, kwargs):
        merged.update(_items("dict.merge", one))
    return merged


def _deep_merge(args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    merged, *others = _dicts("dict.deep_merge", args, kwargs)
    for other in others:
        merged = _merged_deeply(merged, other, 0)
    return merged


def _merged_deeply(below: Value, over: Value, depth: int) -> dict[Value, Value]:
    _check_depth("dict.deep_merge", depth)
    merged = dict(_items("dict.deep_merge", below))
    for key, value in _items("dict.deep_merge", over).items():
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            value = _merged_deeply(before, value, depth + 1)
        merged[key] = value
    return merged


def _check_depth(function: str, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise EvalError(f"{function}: recursion depth exceeds maximum ({_MAX_DEPTH})")


def _key_list(function: str, keys: list[Value]) -> list[str]:
    for key in keys:
        if not isinstance(key, str):
            raise EvalError(f"{function}: key list element is {type_name(key)}, want string")
    return keys


def _pick(args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[Value, Value]:
    source, keys = _PICK.bind(args, kwargs)
    source = _items("dict.pick", source)
    return {key: source[key] for key in _key_list("dict.pick", keys) if key in source}


def _omit(args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[Value, Value]:
    source, keys = _OMIT.bind(args, kwargs)
    left_out = set(_key_list("dict.omit", keys))
    items = _items("dict.omit", source).items()
    return {key: value for key, value in items if isinstance(key, str) and key not in left_out}


def _compact(args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[Value, Value]:
    (source,) = _COMPACT.bind(args, kwargs)
    items = _items("dict.compact", source).items()
    return {key: _compacted("dict.compact", value, 0) for key, value in items if value is not None}


def compacted(function: str, source: dict[Value, Value]) -> dict[Value, Value]:
    """The dict without entries that are None, at any depth."""
    result: dict[Value, Value] = _compacted(function, source, 0)
    return result


def _compacted(function: str, value: Value, depth: int) -> Value:
    _check_depth(function, depth)
    if isinstance(value, dict):
        return {key: _compacted(function, item, depth + 1) for key, item in value.items() if item is not None}
    return [_compacted(function, item, depth + 1) for item in value] if isinstance(value, list) else value


def _keys(function: str, path: str) -> list[str]:
    if not path:
        raise EvalError(f"{function}: path must not be empty")
    keys = path.split(".")
    if "" in keys:
        raise EvalError(f"{function}: malformed path {quote(path)}")
    return keys


def _dig(args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value, path, default = _DIG.bind(args, kwargs)
    for key in _keys("dict.dig", path):
        if not isinstance(value, dict) or key not in value:
            return default
        value = value[key]
    return value


def _has_path(args: tuple[Value, ...], kwargs: dict[str, Value]) -> bool:
    value, path = _HAS_PATH.bind(args, kwargs)
    for key in _keys("dict.has_path", path):
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


_PICK = Signature("dict.pick", required("d"), required("keys", LIST))
_OMIT = Signature("dict.omit", required("d"), required("keys", LIST))
_COMPACT = Signature("dict.compact", required("d"))
_DIG = Signature("dict.dig", required("d"), required("path", STRING), optional("default", ANY, None))
_HAS_PATH = Signature("dict.has_path", required("d"), required("path", STRING))


class DictModule(ApplicationValue):
    """`dict`: a module and a function."""

    type_name = "module"
    is_callable = True
    name = "dict"
    _members: ClassVar = {
        name: Builtin(f"dict.{name}", function)
        for name, function in {
            "merge": _merge,
            "deep_merge": _deep_merge,
            "pick": _pick,
            "omit": _omit,
            "compact": _compact,
            "dig": _dig,
            "has_path": _has_path,
        }.items()
    }

    def attribute(self, name: str) -> Value:
        return self._members[name]

    def attribute_names(self) -> list[str]:
        return sorted(self._members)

    def text(self) -> str:
        return '<module "dict">'

    def call(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        return UNIVERSE["dict"].implementation(args, kwargs)


DICT = DictModule()
