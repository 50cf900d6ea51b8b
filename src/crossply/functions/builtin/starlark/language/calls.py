"""Calls of functions, and the arguments that do not fit them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.freezing_and_iteration import (
    current,
    elements_of,
    is_iterable,
)
from crossply.functions.builtin.starlark.language.values import (
    ApplicationValue,
    Builtin,
    Function,
    Value,
    type_name,
)
from crossply.values.goquote import quote


def call(function: Value, /, *args: Value, **kwargs: Value) -> Value:
    """What `function(…)` gives."""
    if function.__class__ is Function:
        return call_function(function, args, kwargs)
    return call_builtin(function, args, kwargs)


def call_builtin(function: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Call a function that is no function of a script; `backtrace` finds the frame of this call."""
    if isinstance(function, Builtin):
        return function.implementation(args, kwargs)
    if isinstance(function, ApplicationValue) and function.is_callable:
        return function.call(args, kwargs)
    raise NotCallable(f"invalid call of non-function ({type_name(function)})")


class NotCallable(EvalError):
    """Something is called that is no function: it has no frame of its own."""


class NotEntered(EvalError):
    """A function of a script is called, but does not begin."""

    def __init__(self, message: str, function: Function) -> None:
        super().__init__(message)
        self.function = function


def call_function(function: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    state, code = current(), function.python.__code__
    is_outermost = code not in state.active
    if not is_outermost and not state.allows_recursion:
        raise NotEntered(f"function {function.name} called recursively", function)
    state.active.add(code)
    try:
        return function.python(*args, **kwargs)
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise
        raise NotEntered(_misfit(function, args, kwargs), function) from None
    finally:
        if is_outermost:
            state.active.discard(code)


def positional(values: Value) -> Iterable[Value]:
    """The values of `*values` in a call."""
    if not is_iterable(values):
        raise EvalError(f"argument after * must be iterable, not {type_name(values)}")
    return elements_of(values)


def by_name(values: Value) -> Mapping[str, Value]:
    """The values of `**values` in a call."""
    if values.__class__ is not dict:
        raise EvalError(f"argument after ** must be a mapping, not {type_name(values)}")
    for key in values:
        if key.__class__ is not str:
            raise EvalError(f"keywords must be strings, not {type_name(key)}")
    return values


def _misfit(function: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> str:
    """Why arguments do not fit the parameters of a function."""
    name, parameters = function.name, inspect.signature(function.python).parameters
    ordinary = [one for one in parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
    only_named = [one for one in parameters.values() if one.kind is one.KEYWORD_ONLY]
    takes_more = any(one.kind is one.VAR_POSITIONAL for one in parameters.values())
    if not parameters:
        return f"function {name} accepts no arguments ({len(args) + len(kwargs)} given)"
    if len(args) > len(ordinary) and not takes_more:
        bound = "at most " if any(one.default is not one.empty for one in ordinary) else ""
        plural = "" if len(ordinary) == 1 else "s"
        return (
            f"function {name} accepts {bound}{len(ordinary)} positional argument{plural} ({len(args)} given)"
        )
    bound_names = {one.name for one in ordinary[: len(args)]}
    for key in kwargs:
        if key in bound_names:
            return f"function {name} got multiple values for parameter {quote(key)}"
        if key not in parameters:
            return f"function {name} got an unexpected keyword argument {quote(key)}"
    missing = _missing([*ordinary, *only_named], {*bound_names, *kwargs})
    plural = "s" if len(missing) > 1 else ""
    return f"function {name} missing {len(missing)} argument{plural} ({', '.join(missing)})"


def _missing(parameters: list[Any], passed: set[str]) -> list[str]:
    return [one.name for one in parameters if one.default is one.empty and one.name not in passed]
