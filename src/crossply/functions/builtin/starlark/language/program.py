"""A compiled script, and its run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from crossply.functions.builtin.starlark.language import (
    attributes,
    calls,
    comparison,
    indexing,
    membership,
    operators,
)
from crossply.functions.builtin.starlark.language.expression_compiler import PREFIX
from crossply.functions.builtin.starlark.language.failures import CompileError, EvalError
from crossply.functions.builtin.starlark.language.freezing_and_iteration import iterate
from crossply.functions.builtin.starlark.language.parser import Source, parse
from crossply.functions.builtin.starlark.language.resolver import expand_stars, resolve
from crossply.functions.builtin.starlark.language.spelling import nearest
from crossply.functions.builtin.starlark.language.statement_compiler import StatementCompiler
from crossply.functions.builtin.starlark.language.universe import UNIVERSE
from crossply.functions.builtin.starlark.language.values import Function, Struct, Value, hashable

Globals = dict[str, Value]
Load = Callable[[str], Mapping[str, Value]]
"""The exported values of a module."""

MARK = "starlark "
"""The file name of compiled code begins with it, so that its frames are found."""


class Program:
    """A compiled script."""

    def __init__(self, source: Source, code: CodeType, exports: list[str]) -> None:
        self.source = source
        self.exports = exports
        """The names that other scripts can load, sorted."""
        self._code = code

    def run(self, predeclared: Mapping[str, Value], load: Load) -> Globals:
        """Run the script; the values that other scripts can load."""
        names: Globals = {**UNIVERSE, **predeclared, **_HELPERS, "__builtins__": {}}
        names[f"{PREFIX}load"] = lambda module, requested: _loaded(load(module), module, requested)
        names[f"{PREFIX}load_all"] = lambda module: Struct(load(module))
        predeclared_before = {name: names[name] for name in self.exports if name in names}
        exec(self._code, names)
        return {
            name: names[name]
            for name in self.exports
            if name in names and names[name] is not predeclared_before.get(name, self)
        }


def compile_program(
    name: str,
    text: str,
    predeclared: Collection[str],
    exports: Callable[[str], list[str]],
    may_reassign: bool = False,
) -> Program:
    """Compile a script; raises CompileError. `exports` gives the names of a module for `load(…, "*")`."""
    source = Source(name, text)
    tree = parse(source)
    expand_stars(tree, exports)
    names = resolve(source, tree, {*UNIVERSE, *predeclared}, may_reassign)
    tree.body = StatementCompiler(source, frozenset(UNIVERSE) - names.declared.keys()).block(tree.body)
    try:
        code = compile(ast.fix_missing_locations(tree), f"{MARK}{name}", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise CompileError(source.place(getattr(error, "lineno", 1) or 1, 0), str(error)) from None
    return Program(source, code, sorted(one for one in names.declared if not one.startswith("_")))


def _loaded(module: Mapping[str, Value], name: str, requested: tuple[str, ...]) -> tuple[Value, ...]:
    for one in requested:
        if one not in module:
            near = nearest(one, sorted(module))
            hint = f" (did you mean {near}?)" if near else ""
            raise EvalError(f"load: name {one} not found in module {name}{hint}")
    return tuple(module[one] for one in requested)


def _unpack_items(elements: Iterable[Value], pattern: tuple[Any, ...]) -> Iterator[tuple[Value, ...]]:
    return (indexing.unpack(element, pattern) for element in elements)


def _function(name: str, place: str) -> Callable[[Callable[..., Value]], Function]:
    """Makes a function of a script out of one of Python."""
    return lambda python: Function(name, python, place)


_HELPERS: Globals = {
    PREFIX + name: function
    for name, function in {
        **{
            name: getattr(module, name)
            for module, names in {
                attributes: "get_attribute set_attribute update_attribute",
                calls: "call positional by_name",
                comparison: "equal not_equal less less_or_equal greater greater_or_equal",
                indexing: "get_index set_index update_index get_slice make_dict unpack",
                membership: "contains excludes",
                operators: "add add_in_place subtract multiply divide floor_divide modulo bit_or "
                "bit_or_in_place bit_and bit_xor shift_left shift_right negate plus invert",
            }.items()
            for name in names.split()
        },
        "function": _function,
        "hashable": hashable,
        "iterate": iterate,
        "unpack_each": _unpack_items,
    }.items()
}
