"""All functions of expressions by name, as Python functions of their arguments.

Special forms are those that do not evaluate all of their arguments, or not before they are called: operators
of optional values, `&&`, `||`, conditions and access by index.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from crossply.functions.builtin.kro.cel.conversions import CONVERSIONS
from crossply.functions.builtin.kro.cel.library_functions import LIBRARY_FUNCTIONS
from crossply.functions.builtin.kro.cel.list_functions import LIST_FUNCTIONS
from crossply.functions.builtin.kro.cel.operators import OPERATORS, member_of
from crossply.functions.builtin.kro.cel.text_functions import TEXT_FUNCTIONS
from crossply.functions.builtin.kro.cel.times import GETTERS, part_of
from crossply.functions.builtin.kro.cel.values import (
    MISSING,
    NONE,
    EvaluationError,
    NoSuchOverload,
    Optional,
    equal,
    is_list,
)

Scope = dict[str, Any]
Evaluate = Callable[[Scope], Any]


def to_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise NoSuchOverload
    return value


def _and_or(decides: bool) -> Callable[[Evaluate, Evaluate], Evaluate]:
    def make(left: Evaluate, right: Evaluate) -> Evaluate:
        def evaluate(scope: Scope) -> bool:
            try:
                first = to_boolean(left(scope))
            except EvaluationError as error:
                return _rescue(right, scope, decides, error)
            return decides if first is decides else to_boolean(right(scope))

        return evaluate

    return make


def _rescue(right: Evaluate, scope: Scope, decides: bool, failure: EvaluationError) -> bool:
    """The right operand, if it decides without the left one, which failed."""
    try:
        value = right(scope)
    except EvaluationError:
        raise failure from None
    if value is decides:
        return bool(decides)
    raise failure


def _conditional(test: Evaluate, then: Evaluate, otherwise: Evaluate) -> Evaluate:
    return lambda scope: then(scope) if to_boolean(test(scope)) else otherwise(scope)


def _or_optional(left: Evaluate, right: Evaluate) -> Evaluate:
    def evaluate(scope: Scope) -> Any:
        value = left(scope)
        if not isinstance(value, Optional):
            raise NoSuchOverload
        return value if value.has_value else right(scope)

    return evaluate


def _or_value(left: Evaluate, right: Evaluate) -> Evaluate:
    def evaluate(scope: Scope) -> Any:
        value = left(scope)
        if not isinstance(value, Optional):
            raise NoSuchOverload
        return value.value if value.has_value else right(scope)

    return evaluate


def _optional_member(operand: Evaluate, key: Evaluate) -> Evaluate:
    return lambda scope: _optional(member_of(operand(scope), key(scope)))


def _optional(value: Any) -> Optional:
    if value is MISSING:
        return NONE
    return value if isinstance(value, Optional) else Optional((value,))


def _index(operand: Evaluate, key: Evaluate) -> Evaluate:
    def evaluate(scope: Scope) -> Any:
        container, place = operand(scope), key(scope)
        value = member_of(container, place)
        if value is MISSING:
            problem = "index out of bounds" if is_list(container) else "no such key"
            raise EvaluationError(f"{problem}: {place}")
        return value

    return evaluate


def _equal(left: Evaluate, right: Evaluate) -> Evaluate:
    return lambda scope: equal(left(scope), right(scope))


def _unequal(left: Evaluate, right: Evaluate) -> Evaluate:
    return lambda scope: not equal(left(scope), right(scope))


SPECIAL_FORMS: dict[str, Callable[..., Evaluate]] = {
    "_&&_": _and_or(False),
    "_||_": _and_or(True),
    "_?_:_": _conditional,
    "_==_": _equal,
    "_!=_": _unequal,
    "_[_]": _index,
    "_[?_]": _optional_member,
    "_?._": _optional_member,
    "or": _or_optional,
    "orValue": _or_value,
}
"""Each makes the function of a call from the functions of its arguments."""


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **OPERATORS,
    **CONVERSIONS,
    **TEXT_FUNCTIONS,
    **LIST_FUNCTIONS,
    **LIBRARY_FUNCTIONS,
    **{name: partial(part_of, name) for name in GETTERS},
}
