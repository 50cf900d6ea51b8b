"""What a running script has: what is frozen, what is being iterated over, and which functions are active.

A worker runs one script at a time, so there is one state at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import CodeType

from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.values import (
    FrozenAttrDict,
    FrozenList,
    Function,
    Module,
    Set,
    StringView,
    Struct,
    Value,
    type_name,
)

_IMMUTABLE = (FrozenAttrDict, FrozenList)


class State:
    """The state of one run."""

    __slots__ = ("active", "allows_recursion", "frozen", "iterating")

    def __init__(self, allows_recursion: bool = False) -> None:
        self.allows_recursion = allows_recursion
        self.frozen: dict[int, Value] = {}
        """Frozen containers by identity; the reference keeps the identity theirs."""
        self.iterating: dict[int, int] = {}
        """How many loops iterate over a container, by its identity."""
        self.active: set[CodeType] = set()


class _Current:
    state = State()


def start(allows_recursion: bool = False) -> None:
    """Begin a run."""
    _Current.state = State(allows_recursion)


def current() -> State:
    return _Current.state


def freeze(values: Iterable[Value]) -> None:
    """Make values immutable, with all that they contain."""
    frozen, pending = _Current.state.frozen, list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, _IMMUTABLE) or id(value) in frozen:
            continue
        if isinstance(value, list | dict | Set):
            frozen[id(value)] = value
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list | tuple):
            pending.extend(value)
        elif isinstance(value, Struct):
            pending.extend(value.fields.values())
        elif isinstance(value, Function):
            pending.extend(cell.cell_contents for cell in value.python.__closure__ or () if _is_set(cell))
            pending.extend(value.python.__defaults__ or ())
        elif isinstance(value, Module):
            pending.extend(value.members.values())


def _is_set(cell: object) -> bool:
    try:
        cell.cell_contents  # type: ignore[attr-defined] # noqa: B018
    except ValueError:
        return False
    return True


def check_mutable(container: Value, verb: str) -> None:
    """Refuse to change a container that is frozen, or that a loop iterates over."""
    state = _Current.state
    kind = "list" if isinstance(container, list) else "hash table"
    if isinstance(container, _IMMUTABLE) or id(container) in state.frozen:
        raise EvalError(f"cannot {verb} frozen {kind}")
    if state.iterating.get(id(container)):
        raise EvalError(f"cannot {verb} {kind} during iteration")


def iterate(value: Value) -> Iterator[Value]:
    """The elements of an iterable, which cannot be changed meanwhile."""
    if isinstance(value, list | dict):
        return _guarded(value, value)
    if isinstance(value, Set):
        return _guarded(value, value.elements)
    return iter(elements_of(value))


def elements_of(value: Value) -> Iterable[Value]:
    """The elements of an iterable."""
    if isinstance(value, list | tuple | dict | range):
        return value
    if isinstance(value, Set):
        return value.elements
    if isinstance(value, StringView):
        return value.items
    raise EvalError(f"{type_name(value)} value is not iterable")


def is_iterable(value: Value) -> bool:
    return isinstance(value, list | tuple | dict | range | Set | StringView)


def _guarded(container: Value, elements: Iterable[Value]) -> Iterator[Value]:
    iterating, identity = _Current.state.iterating, id(container)
    iterating[identity] = iterating.get(identity, 0) + 1
    try:
        yield from elements
    finally:
        iterating[identity] -= 1
