"""The names of a script: which are global, and which are not defined anywhere."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator

from crossply.functions.builtin.starlark.language.parser import LOAD, Source
from crossply.functions.builtin.starlark.language.spelling import nearest

STAR = "*"
"""Stands for all names of a module in a load statement."""


class Names:
    """The names that a script binds at its top level."""

    def __init__(self) -> None:
        self.declared: dict[str, ast.AST] = {}
        """Assigned or defined here: what other scripts can load."""
        self.loaded: dict[str, ast.AST] = {}
        """Loaded from other scripts."""


def resolve(source: Source, tree: ast.Module, predeclared: Collection[str], may_reassign: bool) -> Names:
    """The names of a script; raises CompileError."""
    names, problems = Names(), _private_loads(tree)
    for name, node, is_load in _bindings(tree.body):
        table = names.loaded if is_load else names.declared
        first = names.declared.get(name) or names.loaded.get(name)
        if first is not None and not may_reassign:
            problems.append((node, _reassignment(source, name, first, is_load)))
        table.setdefault(name, node)
    visitor = _Uses({*names.declared, *names.loaded}, predeclared)
    visitor.visit_body(tree.body)
    for node, message in (*problems, *visitor.problems):
        raise source.refuse(node, message)
    for node, name, near in visitor.undefined:
        raise source.refuse(node, f"undefined: {name}" + (f" (did you mean {near}?)" if near else ""))
    return names


def _private_loads(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    """Load statements of names that are not exported."""
    loads = [load for call in filter(None, map(load_statement, tree.body)) for load in load_names(call)]
    message = "load: names with leading underscores are not exported: "
    return [(_name_in(node), message + there) for _, there, node in loads if there.startswith("_")]


def _name_in(node: ast.AST) -> ast.AST:
    """Where a loaded name begins, inside of its quotes."""
    literal = node.value if isinstance(node, ast.keyword) else node
    place = ast.Constant(None)
    place.lineno, place.col_offset = literal.lineno, literal.col_offset + 1  # type: ignore[attr-defined]
    return place


def _reassignment(source: Source, name: str, first: ast.AST, is_load: bool) -> str:
    if is_load:
        return f"cannot reassign top-level {name}"
    place = source.place(first.lineno, first.col_offset)  # type: ignore[attr-defined]
    return f"cannot reassign global {name} declared at {place}"


def load_statement(statement: ast.stmt) -> ast.Call | None:
    """The call of a load statement."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Name) and function.id == LOAD:
            return statement.value
    return None


def load_names(call: ast.Call) -> list[tuple[str, str, ast.AST]]:
    """What a load statement binds: the name here, the name there, and where that is written."""
    names: list[tuple[str, str, ast.AST]] = []
    for argument in call.args[1:]:
        name = _string(argument)
        names.append((name, name, argument))
    return names + [(keyword.arg or "", _string(keyword.value), keyword) for keyword in call.keywords]


def module_name(call: ast.Call) -> str:
    """The module that a load statement names."""
    return _string(call.args[0]) if call.args else ""


def expand_stars(tree: ast.Module, exports: Callable[[str], list[str]]) -> None:
    """Replace `"*"` in load statements by the names that the module exports."""
    for call in filter(None, map(load_statement, tree.body)):
        if not any(_string(argument) == STAR for argument in call.args[1:]):
            continue
        explicit = [argument for argument in call.args[1:] if _string(argument) != STAR]
        named = {*map(_string, explicit), *(keyword.arg for keyword in call.keywords)}
        added = [
            ast.copy_location(ast.Constant(name), call.args[0])
            for name in exports(module_name(call))
            if name not in named
        ]
        call.args[1:] = [*explicit, *added]


def _string(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _bindings(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.AST, bool]]:
    """The names that statements bind, in order, where, and whether by a load statement."""
    for statement in body:
        call = load_statement(statement)
        if call is not None:
            for name, _, node in load_names(call):
                yield name, node, True
        elif isinstance(statement, ast.FunctionDef):
            yield statement.name, statement, False
        elif isinstance(statement, ast.Assign | ast.AugAssign | ast.For):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for bound in (name for target in targets for name in _target_names(target)):
                yield bound.id, bound, False
        if isinstance(statement, ast.If | ast.For | ast.While):
            yield from _bindings([*statement.body, *statement.orelse])


def _target_names(target: ast.AST) -> list[ast.Name]:
    if isinstance(target, ast.Name):
        return [target]
    if isinstance(target, ast.Tuple | ast.List):
        return [name for element in target.elts for name in _target_names(element)]
    return []


class _Uses(ast.NodeVisitor):
    """Finds uses of names that are not bound, and statements in the wrong place."""

    def __init__(self, top_level: set[str], predeclared: Collection[str]) -> None:
        self.undefined: list[tuple[ast.AST, str, str]] = []
        self.problems: list[tuple[ast.AST, str]] = []
        self._scopes = [top_level]
        self._predeclared = predeclared
        self._functions = 0
        self._loops = 0

    def visit_body(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            if load_statement(statement) is None:
                self.visit(statement)
            elif self._functions or self._loops:
                where = "a function" if self._functions else "a loop"
                self.problems.append((statement, f"load statement within {where}"))

    def visit_Name(self, node: ast.Name) -> None:
        known = node.id in self._predeclared or any(node.id in scope for scope in self._scopes)
        if isinstance(node.ctx, ast.Load) and not known:
            candidates = sorted(name for scope in self._scopes for name in scope)
            self.undefined.append((node, node.id, nearest(node.id, candidates)))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node.args, [name for name, _, _ in _bindings(node.body)], node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node.args, [], [ast.copy_location(ast.Expr(node.body), node)])

    def _function(self, parameters: ast.arguments, bound: list[str], body: list[ast.stmt]) -> None:
        for default in (*parameters.defaults, *(one for one in parameters.kw_defaults if one)):
            self.visit(default)
        names = [*parameters.args, *parameters.kwonlyargs, parameters.vararg, parameters.kwarg]
        loops, self._loops = self._loops, 0
        self._functions += 1
        self._scopes.append({*bound, *(name.arg for name in names if name is not None)})
        self.visit_body(body)
        self._scopes.pop()
        self._functions -= 1
        self._loops = loops

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node.generators, [node.elt])

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node.generators, [node.key, node.value])

    def _comprehension(self, generators: list[ast.comprehension], results: list[ast.expr]) -> None:
        self.visit(generators[0].iter)
        self._scopes.append({name.id for one in generators for name in _target_names(one.target)})
        for number, generator in enumerate(generators):
            if number:
                self.visit(generator.iter)
            self.visit(generator.target)
            for condition in generator.ifs:
                self.visit(condition)
        for result in results:
            self.visit(result)
        self._scopes.pop()

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        self._loop(node.body)

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self._loop(node.body)

    def _loop(self, body: list[ast.stmt]) -> None:
        self._loops += 1
        self.visit_body(body)
        self._loops -= 1

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self.visit_body([*node.body, *node.orelse])

    def visit_Return(self, node: ast.Return) -> None:
        if not self._functions:
            self.problems.append((node, "return statement not within a function"))
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self._in_loop(node, "break")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._in_loop(node, "continue")

    def _in_loop(self, node: ast.stmt, word: str) -> None:
        if not self._loops:
            self.problems.append((node, f"{word} not in a loop"))
