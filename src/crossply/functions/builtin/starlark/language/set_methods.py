"""The methods of sets."""

from __future__ import annotations

from crossply.functions.builtin.starlark.language.arguments import ANY, ITERABLE, MISSING
from crossply.functions.builtin.starlark.language.collection_methods import Method, named
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.freezing_and_iteration import (
    check_mutable,
    elements_of,
    is_iterable,
)
from crossply.functions.builtin.starlark.language.operators import bit_and, bit_xor, subtract
from crossply.functions.builtin.starlark.language.values import Set, Value, hashable, type_name


def _add(receiver: Set, element: Value) -> None:
    check_mutable(receiver, "insert into")
    receiver.elements[hashable(element)] = None


def _clear(receiver: Set) -> None:
    if receiver.elements:
        check_mutable(receiver, "clear")
        receiver.elements.clear()


def _discard(receiver: Set, element: Value) -> None:
    check_mutable(receiver, "delete from")
    receiver.elements.pop(hashable(element), None)


def _remove(receiver: Set, element: Value) -> None:
    check_mutable(receiver, "delete from")
    if hashable(element) not in receiver.elements:
        raise EvalError("missing key")
    del receiver.elements[element]


def _pop(receiver: Set) -> Value:
    if not receiver.elements:
        raise EvalError("empty set")
    check_mutable(receiver, "delete from")
    element = next(iter(receiver.elements))
    del receiver.elements[element]
    return element


def _other(iterable: Value) -> Set:
    return Set() if iterable is MISSING else Set(elements_of(iterable))


def _is_subset(receiver: Set, iterable: Value) -> bool:
    return receiver.elements.keys() <= _other(iterable).elements.keys()


def _is_superset(receiver: Set, iterable: Value) -> bool:
    return receiver.elements.keys() >= _other(iterable).elements.keys()


def _union(receiver: Set, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Set:
    return Set((*receiver.elements, *_all_elements("union", args, kwargs)))


def _update(receiver: Set, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    elements = _all_elements("update", args, kwargs)
    for element in elements:
        _add(receiver, element)


def _all_elements(name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[Value]:
    if kwargs:
        raise EvalError(f"{name}: does not accept keyword arguments")
    elements: list[Value] = []
    for number, iterable in enumerate(args, 1):
        if not is_iterable(iterable):
            raise EvalError(f"{name}: argument #{number} is not iterable: {type_name(iterable)}")
        elements.extend(elements_of(iterable))
    return elements


SET_METHODS: dict[str, Method] = {
    "add": named("add", _add, 1, ANY),
    "clear": named("clear", _clear, 0),
    "difference": named("difference", lambda receiver, other: subtract(receiver, _other(other)), 0, ITERABLE),
    "discard": named("discard", _discard, 1, ANY),
    "intersection": named(
        "intersection", lambda receiver, other: bit_and(receiver, _other(other)), 0, ITERABLE
    ),
    "issubset": named("issubset", _is_subset, 0, ITERABLE),
    "issuperset": named("issuperset", _is_superset, 0, ITERABLE),
    "pop": named("pop", _pop, 0),
    "remove": named("remove", _remove, 1, ANY),
    "symmetric_difference": named(
        "symmetric_difference", lambda receiver, other: bit_xor(receiver, _other(other)), 0, ITERABLE
    ),
    "union": _union,
    "update": _update,
}
