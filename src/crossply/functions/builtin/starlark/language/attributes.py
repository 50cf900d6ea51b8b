"""Attributes of values: methods, fields, and the keys of some dicts."""

from __future__ import annotations

from functools import partial

from crossply.functions.builtin.starlark.language.arguments import MISSING
from crossply.functions.builtin.starlark.language.collection_methods import (
    ATTR_DICT_METHODS,
    DICT_METHODS,
    LIST_METHODS,
    Method,
)
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.indexing import set_index
from crossply.functions.builtin.starlark.language.set_methods import SET_METHODS
from crossply.functions.builtin.starlark.language.spelling import nearest
from crossply.functions.builtin.starlark.language.string_methods import BYTES_METHODS, STRING_METHODS
from crossply.functions.builtin.starlark.language.values import (
    ApplicationValue,
    AttrDict,
    Builtin,
    FrozenAttrDict,
    FrozenList,
    Module,
    Set,
    Struct,
    Value,
    type_name,
)

_METHODS: dict[type, dict[str, Method]] = {
    str: STRING_METHODS,
    bytes: BYTES_METHODS,
    list: LIST_METHODS,
    FrozenList: LIST_METHODS,
    dict: DICT_METHODS,
    AttrDict: ATTR_DICT_METHODS,
    FrozenAttrDict: ATTR_DICT_METHODS,
    Set: SET_METHODS,
}


def _methods(value: Value) -> dict[str, Method]:
    methods = _METHODS.get(value.__class__)
    if methods is None:
        return ATTR_DICT_METHODS if isinstance(value, AttrDict) else {}
    return methods


def find_attribute(value: Value, name: str) -> Value:
    """An attribute; MISSING where the value has none of this name."""
    method = _methods(value).get(name)
    if method is not None:
        return Builtin(name, partial(method, value), type_name(value))
    if isinstance(value, AttrDict):
        return value.get(name)
    if isinstance(value, Struct):
        return value.fields.get(name, MISSING)
    if isinstance(value, Module):
        return value.members.get(name, MISSING)
    if isinstance(value, ApplicationValue):
        try:
            return value.attribute(name)
        except KeyError:
            return MISSING
    return MISSING


def get_attribute(value: Value, name: str) -> Value:
    """What `value.name` gives."""
    attribute = find_attribute(value, name)
    if attribute is not MISSING:
        return attribute
    problem = no_attribute(value, name)
    near = nearest(name, attribute_names(value))
    raise EvalError(f"{problem} (did you mean .{near}?)" if near else problem)


def no_attribute(value: Value, name: str) -> str:
    if isinstance(value, Struct):
        return f"struct has no .{name} attribute"
    return f"{type_name(value)} has no .{name} field or method"


def attribute_names(value: Value) -> list[str]:
    """The names of the attributes of a value, sorted."""
    names = list(_methods(value))
    if isinstance(value, AttrDict):
        names += [key for key in value if isinstance(key, str)]
    elif isinstance(value, Struct):
        names += value.fields
    elif isinstance(value, Module):
        names += value.members
    elif isinstance(value, ApplicationValue):
        names += value.attribute_names()
    return sorted(names)


def set_attribute(value: Value, name: str, assigned: Value) -> None:
    """What `value.name = assigned` does."""
    if not isinstance(value, AttrDict):
        raise EvalError(f"can't assign to .{name} field of {type_name(value)}")
    set_index(value, name, assigned)


def update_attribute(value: Value, name: str, operation: Value, operand: Value) -> None:
    """What `value.name += operand` and the like do."""
    set_attribute(value, name, operation(get_attribute(value, name), operand))
