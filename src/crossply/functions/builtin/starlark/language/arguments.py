"""The arguments of built-in functions, checked and in the order of the parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.freezing_and_iteration import is_iterable
from crossply.functions.builtin.starlark.language.spelling import nearest
from crossply.functions.builtin.starlark.language.values import Value, is_callable, is_int, type_name


class Missing:
    """The value of an optional argument that was not passed, where None has a meaning."""


MISSING = Missing()

Check = Callable[[Value], str]
"""What is wrong with an argument; empty for nothing."""


def _want(name: str, is_fitting: Callable[[Value], bool]) -> Check:
    return lambda value: "" if is_fitting(value) else f"got {type_name(value)}, want {name}"


def _check_int(value: Value) -> str:
    if not is_int(value):
        return f"got {type_name(value)}, want int"
    return (
        "" if -(1 << 63) <= value < 1 << 63 else f"{value} out of range (want value in signed 64-bit range)"
    )


ANY: Check = lambda value: ""  # noqa: E731 - a check like the others
STRING = _want("string", lambda value: value.__class__ is str)
BOOL = _want("bool", lambda value: value.__class__ is bool)
INT = _check_int
BIG_INT = _want("int", is_int)
LIST = _want("list", lambda value: isinstance(value, list))
DICT = _want("dict", lambda value: value.__class__ is dict)
CALLABLE = _want("callable", is_callable)
ITERABLE = _want("iterable", is_iterable)


class Parameter(NamedTuple):
    name: str
    check: Check
    default: Any = MISSING
    is_required: bool = True
    none_is_missing: bool = False


def required(name: str, check: Check = ANY) -> Parameter:
    return Parameter(name, check)


def optional(name: str, check: Check = ANY, default: Any = MISSING) -> Parameter:
    return Parameter(name, check, default, is_required=False)


def optional_or_none(name: str, check: Check, default: Any = MISSING) -> Parameter:
    """An optional parameter whose default also stands for None."""
    return Parameter(name, check, default, is_required=False, none_is_missing=True)


class Signature:
    """The parameters of a built-in function, which may be passed by position and by name."""

    def __init__(self, name: str, *parameters: Parameter) -> None:
        self.name = name
        self._parameters = parameters
        self._indexes = {parameter.name: index for index, parameter in enumerate(parameters)}

    def bind(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[Value]:
        """The values of the parameters."""
        parameters = self._parameters
        if len(args) > len(parameters):
            raise EvalError(f"{self.name}: got {len(args)} arguments, want at most {len(parameters)}")
        values = [parameter.default for parameter in parameters]
        for index, argument in enumerate(args):
            self._set(values, index, argument, parameters[index].name)
        for name, argument in kwargs.items():
            if name not in self._indexes:
                raise EvalError(self._unexpected(name))
            if self._indexes[name] < len(args):
                raise EvalError(f'{self.name}: got multiple values for keyword argument "{name}"')
            self._set(values, self._indexes[name], argument, f'"{name}"')
        for index, parameter in enumerate(parameters[len(args) :], len(args)):
            if not parameter.is_required:
                break
            if parameter.name not in kwargs and index >= len(args):
                raise EvalError(f"{self.name}: missing argument for {parameter.name}")
        return values

    def _set(self, values: list[Value], index: int, argument: Value, name: str) -> None:
        parameter = self._parameters[index]
        if parameter.none_is_missing and argument is None:
            return
        problem = parameter.check(argument)
        if problem:
            raise EvalError(f"{self.name}: for parameter {name}: {problem}")
        values[index] = argument

    def _unexpected(self, name: str) -> str:
        known = [parameter.name for parameter in self._parameters[: (len(self._parameters) + 1) // 2]]
        near = nearest(name, known)
        return f'{self.name}: unexpected keyword argument "{name}"' + (
            f" (did you mean {near}?)" if near else ""
        )


class Positional:
    """The parameters of a built-in function that are passed by position only."""

    def __init__(self, name: str, least: int, *checks: Check) -> None:
        self.name = name
        self._least = least
        self._checks = checks

    def bind(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[Value]:
        """The values of the parameters; MISSING for those that were not passed."""
        if kwargs:
            raise EvalError(f"{self.name}: unexpected keyword arguments")
        most = len(self._checks)
        if len(args) < self._least:
            bound = "at least " if self._least < most else ""
            raise EvalError(f"{self.name}: got {len(args)} arguments, want {bound}{self._least}")
        if len(args) > most:
            bound = "at most " if most > self._least else ""
            raise EvalError(f"{self.name}: got {len(args)} arguments, want {bound}{most}")
        for number, (argument, check) in enumerate(zip(args, self._checks, strict=False), 1):
            problem = check(argument)
            if problem:
                raise EvalError(f"{self.name}: for parameter {number}: {problem}")
        return [*args, *[MISSING] * (most - len(args))]
