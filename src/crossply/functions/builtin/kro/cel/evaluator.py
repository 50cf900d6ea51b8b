"""Turn an expression into a Python function of its variables.

Each node becomes a closure. A failure is an `EvaluationError`; `&&`, `||` and the loops of macros such as
`all` take it back where another operand decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from crossply.functions.builtin.kro.cel.environment import TYPE_NAMES, qualified_name
from crossply.functions.builtin.kro.cel.function_table import (
    FUNCTIONS,
    SPECIAL_FORMS,
    Evaluate,
    Scope,
    to_boolean,
)
from crossply.functions.builtin.kro.cel.operators import OPERATORS, member_of
from crossply.functions.builtin.kro.cel.overload_declarations import functions
from crossply.functions.builtin.kro.cel.syntax_tree import (
    Call,
    Comprehension,
    Constant,
    Identifier,
    ListLiteral,
    MapLiteral,
    Node,
    Select,
)
from crossply.functions.builtin.kro.cel.values import (
    MISSING,
    NONE,
    EvaluationError,
    NoSuchOverload,
    Optional,
    TypeValue,
    entries_of,
    is_list,
    is_map,
    items_of,
    keys_of,
    to_key,
    type_name,
)

MOST_STEPS = 1_000_000
"""How many turns of loops all expressions of a request may take."""


class StepsExceeded(Exception):
    """Expressions take too many turns of loops. It is no EvaluationError: `||` must not take it back."""


class Evaluator:
    """Makes functions of expressions, and counts the turns of their loops."""

    def __init__(self) -> None:
        self._steps_left = MOST_STEPS
        self._makers: dict[type, Callable[[Any], Evaluate]] = {
            Constant: self._constant,
            Identifier: self._identifier,
            Select: self._select,
            Call: self._call,
            ListLiteral: self._list,
            MapLiteral: self._map,
            Comprehension: self._comprehension,
        }

    def reset(self) -> None:
        """Reset the count."""
        self._steps_left = MOST_STEPS

    def compile(self, node: Node) -> Evaluate:
        return self._makers[type(node)](node)

    def _step(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise StepsExceeded

    def _constant(self, node: Constant) -> Evaluate:
        value = node.value
        return lambda scope: value

    def _identifier(self, node: Identifier) -> Evaluate:
        name = node.name.removeprefix(".")
        default = TypeValue(name) if name in TYPE_NAMES else MISSING

        def read(scope: Scope) -> Any:
            value = scope.get(name, default)
            if value is MISSING:
                raise EvaluationError(f"no such attribute(s): {name}")
            return value

        return read

    def _select(self, node: Select) -> Evaluate:
        name = qualified_name(node)
        if name in TYPE_NAMES:
            value = TypeValue(name)
            return lambda scope: value
        operand, field = self.compile(node.operand), node.field
        if node.is_test:
            return lambda scope: _is_present(member_of(operand(scope), field))
        return lambda scope: _present(member_of(operand(scope), field), field)

    def _call(self, node: Call) -> Evaluate:
        special = SPECIAL_FORMS.get(node.function)
        arguments = [self.compile(argument) for argument in node.arguments]
        name = node.function
        if node.target is not None:
            prefix = qualified_name(node.target)
            if prefix is not None and f"{prefix}.{name}" in functions():
                name = f"{prefix}.{name}"
            else:
                arguments.insert(0, self.compile(node.target))
        if special is not None:
            return special(*arguments)
        function = FUNCTIONS[name]
        if name in OPERATORS and len(arguments) == 2:
            left, right = arguments
            return lambda scope: function(left(scope), right(scope))
        return lambda scope: _called(name, function, tuple(argument(scope) for argument in arguments))

    def _list(self, node: ListLiteral) -> Evaluate:
        elements = [(self.compile(item), at in node.optional) for at, item in enumerate(node.elements)]

        def make(scope: Scope) -> list[Any]:
            values = []
            for element, is_optional in elements:
                value = element(scope)
                if not is_optional:
                    values.append(value)
                else:
                    values.extend(_content(value).content)
            return values

        return make

    def _map(self, node: MapLiteral) -> Evaluate:
        entries = [
            (self.compile(entry.key), self.compile(entry.value), entry.is_optional)
            for entry in node.entries
            if not isinstance(entry.key, str)
        ]

        def make(scope: Scope) -> dict[Any, Any]:
            values: dict[Any, Any] = {}
            for key, element, is_optional in entries:
                place, value = to_key(key(scope)), element(scope)
                if not is_optional:
                    values[place] = value
                elif _content(value).has_value:
                    values[place] = value.value
            return values

        return make

    def _comprehension(self, node: Comprehension) -> Evaluate:
        range_, initial, result = map(self.compile, (node.range, node.initial, node.result))
        accumulator = node.accumulator
        if _absorbs_errors(node):
            condition, step = _not_decided(node, accumulator), self._absorbing(node)
        else:
            condition = self.compile(node.condition)
            step = self._appending(node) or self.compile(node.step)

        first, second = node.variable, node.second_variable

        def loop(scope: Scope) -> Any:
            keys, values = _turns(range_(scope), bool(second))
            inner = dict(scope)
            inner[accumulator] = initial(scope)
            for index, key in enumerate(keys):
                self._step()
                inner[first] = key
                if values is not None:
                    inner[second] = values[index]
                if not condition(inner):
                    break
                inner[accumulator] = step(inner)
            for name in (first, second):
                if name in scope:
                    inner[name] = scope[name]
            if isinstance(inner[accumulator], EvaluationError):
                raise inner[accumulator]
            return result(inner)

        return loop

    def _appending(self, node: Comprehension) -> Evaluate | None:
        """The step of `map` and `filter`, which adds to the list instead of copying it each time."""
        step, test = node.step, None
        if isinstance(step, Call) and step.function == "_?_:_" and _is_accumulator(step.arguments[2], node):
            test, step = self.compile(step.arguments[0]), step.arguments[1]
        if not (
            isinstance(node.initial, ListLiteral)
            and not node.initial.elements
            and isinstance(step, Call)
            and step.function == "_+_"
            and _is_accumulator(step.arguments[0], node)
            and isinstance(step.arguments[1], ListLiteral)
            and len(step.arguments[1].elements) == 1
            and not step.arguments[1].optional
        ):
            return None
        item = self.compile(step.arguments[1].elements[0])

        def append(scope: Scope) -> Any:
            items = scope[node.accumulator]
            if test is None or to_boolean(test(scope)):
                items.append(item(scope))
            return items

        return append

    def _absorbing(self, node: Comprehension) -> Evaluate:
        """The step of `all` and `exists`: a failed item counts only where no other one decides."""
        assert isinstance(node.step, Call)
        predicate = self.compile(node.step.arguments[1])
        decides = node.step.function == "_||_"

        def step(scope: Scope) -> Any:
            before = scope[node.accumulator]
            try:
                value = to_boolean(predicate(scope))
            except EvaluationError as error:
                return before if isinstance(before, EvaluationError) else error
            return value if value is decides or not isinstance(before, EvaluationError) else before

        return step


def _absorbs_errors(node: Comprehension) -> bool:
    return (
        isinstance(node.condition, Call)
        and node.condition.function == "@not_strictly_false"
        and isinstance(node.step, Call)
        and node.step.function in ("_&&_", "_||_")
        and _is_accumulator(node.step.arguments[0], node)
    )


def _not_decided(node: Comprehension, accumulator: str) -> Evaluate:
    assert isinstance(node.step, Call)
    decides = node.step.function == "_||_"
    return lambda scope: scope[accumulator] is not decides


def _is_accumulator(node: Node, loop: Comprehension) -> bool:
    return isinstance(node, Identifier) and node.name == loop.accumulator


def _turns(range_: Any, has_two_variables: bool) -> tuple[Iterable[Any], list[Any] | None]:
    """The values that the variables of a loop take: elements, or indexes or keys and their elements."""
    if is_list(range_):
        items = items_of(range_)
        return (range(len(items)), items) if has_two_variables else (items, None)
    if not is_map(range_):
        raise NoSuchOverload
    if has_two_variables:
        entries = list(entries_of(range_))
        return [key for key, _ in entries], [value for _, value in entries]
    return keys_of(range_), None


def _is_present(value: Any) -> bool:
    return value is not MISSING and value is not NONE


def _present(value: Any, key: Any) -> Any:
    if value is MISSING:
        raise EvaluationError(f"no such key: {key}")
    return value


def _content(value: Any) -> Optional:
    if not isinstance(value, Optional):
        raise EvaluationError(f"cannot initialize optional entry from non-optional value {value}")
    return value


def _called(name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except NoSuchOverload as error:
        if name in OPERATORS or str(error) != "no such overload":
            raise
        shown = ", ".join(type_name(argument) for argument in arguments)
        raise NoSuchOverload(f"no such overload: {name}({shown})") from None
