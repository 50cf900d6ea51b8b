"""Go's rules of assignability, for arguments of template functions.

Types are named as by reflection. `VALUE` stands for reflect.Value, the parameter type of the built-in
functions: only they can tell nil from no value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.go_templating.engine.compile_scope import Compiled
from crossply.functions.builtin.go_templating.engine.errors import ErrorSite, ExecError
from crossply.functions.builtin.go_templating.engine.go_types import (
    NO_VALUE,
    Duration,
    Int32,
    Int64,
    NilList,
    NilMap,
    Strings,
    Uint8,
    Uint32,
    Uint64,
    go_type,
)
from crossply.functions.builtin.go_templating.engine.nodes import Bool, NumberNode, String
from crossply.functions.builtin.go_templating.engine.render_state import Evaluate, Frame
from crossply.functions.builtin.go_templating.engine.signatures import ANY, VALUE

_CLASSES: dict[str, type] = {
    "string": str,
    "int": int,
    "int64": Int64,
    "float64": float,
    "bool": bool,
    "[]interface {}": list,
    "map[string]interface {}": dict,
    "[]string": Strings,
}
_INTEGERS: dict[str, type[int]] = {
    "int": int,
    "int32": Int32,
    "int64": Int64,
    "time.Duration": Duration,
}
_UNSIGNED: dict[str, type[int]] = {"uint8": Uint8, "uint32": Uint32, "uint64": Uint64}
_NILS: dict[str, type] = {"[]interface {}": NilList, "map[string]interface {}": NilMap}
_NILLABLE = ("[]", "map[", "*", "func(", "interface ")

ABSENT = object()
"""Stands for the result of the previous command when there is none."""

Constant = Bool | NumberNode | String


def checked(inner: Compiled, go_name: str) -> Evaluate:
    """The expression, with its result converted for a parameter."""
    run, last, boxed = inner
    if go_name == VALUE:
        return run
    if go_name == ANY:
        return _without_no_value(run)
    expected = _CLASSES.get(go_name, Ellipsis)

    def typed(frame: Frame, dot: Any) -> Any:
        value = run(frame, dot)
        if value.__class__ is expected:
            return value
        return fit(value, go_name, last, boxed)

    return typed


def _without_no_value(run: Evaluate) -> Evaluate:
    def untyped(frame: Frame, dot: Any) -> Any:
        value = run(frame, dot)
        return None if value is NO_VALUE else value

    return untyped


def fitting(go_name: str, site: ErrorSite) -> Callable[[Any], Any]:
    """`fit` for the result of the previous command, which is never boxed."""
    if go_name == ANY:
        return lambda value: None if value is NO_VALUE else value
    expected = _CLASSES.get(go_name, Ellipsis)
    return lambda value: value if value.__class__ is expected else fit(value, go_name, site, boxed=False)


def fit(value: Any, go_name: str, site: ErrorSite, boxed: bool) -> Any:
    """The value as the type; raises Go's error if it is not assignable."""
    if go_name == VALUE:
        return value
    if value is NO_VALUE or (value is None and not boxed):
        if not can_be_nil(go_name):
            raise site.error(f"invalid value; expected {go_name}")
        return nil_of(go_name)
    if go_name == ANY:
        return value
    if value is None:
        raise site.error(f"wrong type for value; expected {go_name}; got interface {{}}")
    actual = go_type(value)
    if actual not in (go_name, f"*{go_name}"):
        raise site.error(f"wrong type for value; expected {go_name}; got {actual}")
    return value


def can_be_nil(go_name: str) -> bool:
    """Whether nil can be assigned to a type."""
    return go_name == VALUE or go_name.startswith(_NILLABLE)


def nil_of(go_name: str) -> Any:
    """The nil of a type."""
    return _NILS.get(go_name, type(None))()


def fixed(node: Constant, go_name: str, site: ErrorSite) -> Evaluate:
    """A constant argument. One of the wrong type fails at run time, as in Go."""
    try:
        value = constant(node, go_name, site)
    except ExecError:
        return lambda frame, dot: constant(node, go_name, site)
    return lambda frame, dot: value


def constant(node: Constant, go_name: str, site: ErrorSite) -> Any:
    """A constant as a value of the type; ExecError when it cannot be one."""
    if go_name in (ANY, VALUE):
        return ideal(node, site)
    if go_name == "string":
        return node.text if isinstance(node, String) else _refuse(node, "string", site)
    if go_name == "bool":
        return node.value if isinstance(node, Bool) else _refuse(node, "bool", site)
    number = node.number if isinstance(node, NumberNode) else None
    if go_name == "float64":
        return _refuse(node, "float", site) if number is None or number.as_float is None else number.as_float
    if go_name in _INTEGERS:
        if number is None or number.as_int is None:
            return _refuse(node, "integer", site)
        return _INTEGERS[go_name](number.as_int)
    if go_name in _UNSIGNED:
        if number is None or number.as_uint is None:
            return _refuse(node, "unsigned integer", site)
        return _UNSIGNED[go_name](number.as_uint)
    raise site.error(f"can't handle {node} for arg of type {go_name}")


def _refuse(node: Constant, expected: str, site: ErrorSite) -> Any:
    raise site.error(f"expected {expected}; found {node}")


def ideal(node: Constant, site: ErrorSite) -> Any:
    """A constant without an expected type: its spelling decides."""
    if isinstance(node, Bool):
        return node.value
    if isinstance(node, String):
        return node.text
    number = node.number
    if number.as_complex is not None:
        return number.as_complex
    if number.as_float is not None and _is_written_as_float(number.text):
        return number.as_float
    if number.as_int is None:
        raise site.error(f"{number.text} overflows int")
    return number.as_int


def _is_written_as_float(text: str) -> bool:
    if text[0] == "'" or (text[:2] in ("0x", "0X") and not set("pP") & set(text)):
        return False
    return bool(set(".eEpP") & set(text))
