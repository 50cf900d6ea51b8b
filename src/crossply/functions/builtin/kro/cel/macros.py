"""Macros: calls that stand for loops, bindings and tests. Their nodes are placed where the macro is."""

from __future__ import annotations

from collections.abc import Callable

from crossply.functions.builtin.kro.cel.syntax_tree import (
    ACCUMULATOR,
    Call,
    Comprehension,
    Constant,
    ExpressionError,
    Identifier,
    ListLiteral,
    MapLiteral,
    Node,
    Select,
    Source,
)

SORT_BY_KEYS = "@sortByAssociatedKeys"
MAP_INSERT = "cel.@mapInsert"
_SORTED = "@__sortBy_input__"
_UNUSED = "#unused"
_NO_NAME = "argument must be a simple name"


class _Factory:
    """Makes the nodes of one macro."""

    def __init__(self, call: Call, source: Source) -> None:
        self.call = call
        self._source = source

    @property
    def arguments(self) -> tuple[Node, ...]:
        return self.call.arguments

    @property
    def target(self) -> Node:
        assert self.call.target is not None
        return self.call.target

    def new(self) -> int:
        return self._source.copied_id(self.call.id)

    def constant(self, value: bool | int) -> Node:
        return Constant(self.new(), value)

    def identifier(self, name: str = ACCUMULATOR) -> Node:
        return Identifier(self.new(), name)

    def calling(self, function: str, *arguments: Node, target: Node | None = None) -> Node:
        return Call(self.new(), function, target, arguments)

    def items(self, *elements: Node) -> Node:
        return ListLiteral(self.new(), elements)

    def name(self, index: int, problem: str) -> str:
        """The variable that an argument names."""
        argument = self.arguments[index]
        if not isinstance(argument, Identifier):
            raise self.error(argument, problem)
        if argument.name in (ACCUMULATOR, "__result__"):
            raise self.error(argument, "iteration variable overwrites accumulator variable")
        return argument.name

    def names(self) -> tuple[str, str]:
        """The two variables of a loop."""
        first, second = self.name(0, _NO_NAME), self.name(1, _NO_NAME)
        if first == second:
            raise self.error(self.arguments[1], f"duplicate variable name: {first}")
        return first, second

    def loop(
        self,
        names: tuple[str, str],
        initial: Node,
        step: Node,
        condition: Node | None = None,
        result: Node | None = None,
    ) -> Node:
        """A loop over the target of the macro."""
        condition, result = condition or self.constant(True), result or self.identifier()
        return Comprehension(self.call.id, self.target, *names, ACCUMULATOR, initial, condition, step, result)

    def bind(self, name: str, value: Node, result: Node) -> Node:
        """A value with a name, for another expression: a loop without turns."""
        return Comprehension(
            self.new(),
            self.items(),
            _UNUSED,
            "",
            name,
            value,
            self.constant(False),
            self.identifier(name),
            result,
        )

    def filtered(self, test: Node | None, step: Node) -> Node:
        """A step that is only taken where a test is true."""
        return step if test is None else self.calling("_?_:_", test, step, self.identifier())

    def error(self, node: Node, message: str) -> ExpressionError:
        return ExpressionError(self._source.report([(node.id, message)]))


def expanded(call: Call, source: Source) -> Node:
    """What a macro stands for, or the call as it is."""
    macros = _GLOBAL_MACROS if call.target is None else _MACROS
    expand = macros.get((call.function, len(call.arguments)))
    if expand is None:
        return call
    return expand(_Factory(call, source))


def _has(make: _Factory) -> Node:
    field = make.arguments[0]
    if not isinstance(field, Select) or field.is_test:
        raise make.error(field, "invalid argument to has() macro")
    return Select(make.call.id, field.operand, field.field, True)


def _quantifier(make: _Factory) -> tuple[tuple[str, str], Node]:
    """The variables and the predicate of `all`, `exists` and `exists_one`."""
    names = make.names() if len(make.arguments) == 3 else (make.name(0, _NO_NAME), "")
    return names, make.arguments[-1]


def _all(make: _Factory) -> Node:
    names, predicate = _quantifier(make)
    condition = make.calling("@not_strictly_false", make.identifier())
    step = make.calling("_&&_", make.identifier(), predicate)
    return make.loop(names, make.constant(True), step, condition)


def _exists(make: _Factory) -> Node:
    names, predicate = _quantifier(make)
    condition = make.calling("@not_strictly_false", make.calling("!_", make.identifier()))
    step = make.calling("_||_", make.identifier(), predicate)
    return make.loop(names, make.constant(False), step, condition)


def _exists_one(make: _Factory) -> Node:
    names, predicate = _quantifier(make)
    more = make.calling("_+_", make.identifier(), make.constant(1))
    step = make.calling("_?_:_", predicate, more, make.identifier())
    result = make.calling("_==_", make.identifier(), make.constant(1))
    return make.loop(names, make.constant(0), step, result=result)


def _map(make: _Factory) -> Node:
    name = make.name(0, "argument is not an identifier")
    test = make.arguments[1] if len(make.arguments) == 3 else None
    append = make.calling("_+_", make.identifier(), make.items(make.arguments[-1]))
    return make.loop((name, ""), make.items(), make.filtered(test, append))


def _filter(make: _Factory) -> Node:
    name = make.name(0, "argument is not an identifier")
    append = make.calling("_+_", make.identifier(), make.items(make.arguments[0]))
    return make.loop((name, ""), make.items(), make.filtered(make.arguments[1], append))


def _transform_list(make: _Factory) -> Node:
    test = make.arguments[2] if len(make.arguments) == 4 else None
    append = make.calling("_+_", make.identifier(), make.items(make.arguments[-1]))
    return make.loop(make.names(), make.items(), make.filtered(test, append))


def _transform_map(make: _Factory) -> Node:
    names = make.names()
    test = make.arguments[2] if len(make.arguments) == 4 else None
    insert = make.calling(MAP_INSERT, make.identifier(), make.identifier(names[0]), make.arguments[-1])
    return make.loop(names, MapLiteral(make.new(), ()), make.filtered(test, insert))


def _transform_map_entry(make: _Factory) -> Node:
    test = make.arguments[2] if len(make.arguments) == 4 else None
    insert = make.calling(MAP_INSERT, make.identifier(), make.arguments[-1])
    return make.loop(make.names(), MapLiteral(make.new(), ()), make.filtered(test, insert))


def _sort_by(make: _Factory) -> Node:
    """`list.sortBy(item, key)`: the list sorted by the keys of its items."""
    name = make.name(0, "argument is not an identifier")
    append = make.calling("_+_", make.identifier(), make.items(make.arguments[1]))
    keys = Comprehension(
        make.new(),
        make.identifier(_SORTED),
        name,
        "",
        ACCUMULATOR,
        make.items(),
        make.constant(True),
        append,
        make.identifier(),
    )
    return make.bind(_SORTED, make.target, make.calling(SORT_BY_KEYS, keys, target=make.identifier(_SORTED)))


def _bind(make: _Factory) -> Node:
    if not isinstance(make.target, Identifier) or make.target.name != "cel":
        return make.call
    name = make.arguments[0]
    if not isinstance(name, Identifier):
        raise make.error(name, "cel.bind() variable names must be simple identifiers")
    return make.bind(name.name, make.arguments[1], make.arguments[2])


def _if_present(wraps: bool) -> Callable[[_Factory], Node]:
    """`optMap`, whose value is made optional, and `optFlatMap`, whose value is optional."""

    def expand(make: _Factory) -> Node:
        name = make.arguments[0]
        if not isinstance(name, Identifier):
            raise make.error(name, f"{make.call.function}() variable name must be a simple identifier")
        value = make.calling("value", target=make.target)
        result = make.bind(name.name, value, make.arguments[1])
        if wraps:
            result = make.calling("optional.of", result)
        has_value = make.calling("hasValue", target=make.target)
        return make.calling("_?_:_", has_value, result, make.calling("optional.none"))

    return expand


_Expand = Callable[[_Factory], Node]
_GLOBAL_MACROS: dict[tuple[str, int], _Expand] = {("has", 1): _has}
_MACROS: dict[tuple[str, int], _Expand] = {
    **{("all", count): _all for count in (2, 3)},
    **{("exists", count): _exists for count in (2, 3)},
    **{("exists_one", count): _exists_one for count in (2, 3)},
    ("existsOne", 3): _exists_one,
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("sortBy", 2): _sort_by,
    ("bind", 3): _bind,
    ("optMap", 2): _if_present(wraps=True),
    ("optFlatMap", 2): _if_present(wraps=False),
}
