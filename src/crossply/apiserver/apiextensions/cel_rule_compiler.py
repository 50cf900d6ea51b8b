"""Compiles the x-kubernetes-validations of a schema against its declared types; keeps the syntax tree for
costs.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from crossply.schema.cel_ast import Checked, Node, read_checked, uses_variable
from crossply.schema.cel_literal_checks import literal_issues
from crossply.schema.cel_messages import compile_issues
from crossply.schema.cel_overloads import accepted
from crossply.schema.cel_types import Declared

_OPTIONAL = "cel.bind(oldSelf, hasOldSelf ? optional.of(previous) : optional.none(), "


class Compiled(NamedTuple):
    """A compiled expression: its issues, or its result kind and syntax tree."""

    issues: tuple[str, ...] = ()
    kind: str = ""
    checked: Checked | None = None
    expression: Node | None = None
    """The source of the expression, without generated wrapping."""

    @property
    def uses_old(self) -> bool:
        """Whether it uses `oldSelf`."""
        return self.expression is not None and uses_variable(self.expression, "oldSelf")


class RuleCompiler:
    """Compiles expressions about data of one declared type."""

    def __init__(self, declared: Declared) -> None:
        from crossply.schema.cel_checker import checked_type

        self._type, self._pool = checked_type(declared)

    def compile(self, text: str, optional_old: bool) -> Compiled:
        """Compile an expression; with `optional_old`, `oldSelf` is an optional value."""
        prefix = _OPTIONAL if optional_old else ""
        wrapped = f"{prefix}{text})" if optional_old else text
        environment = self._optional if optional_old else self._plain
        _, compiled, problem = accepted(wrapped, lambda text: _try(environment, text))
        if problem:
            _, first = _try(environment, wrapped)
            return Compiled(tuple(compile_issues(first, len(prefix)) or [problem]))
        issues = literal_issues(text)
        return Compiled(tuple(issues)) if issues else _read(compiled, optional_old)

    @functools.cached_property
    def _plain(self) -> Any:
        return _environment({"self": self._type, "oldSelf": self._type}, self._pool)

    @functools.cached_property
    def _optional(self) -> Any:
        from cel_expr_python import cel

        variables = {"self": self._type, "previous": self._type, "hasOldSelf": cel.Type.BOOL}
        return _environment(variables, self._pool)


@functools.lru_cache(maxsize=64)
def rule_compiler(declared: Declared) -> RuleCompiler:
    """The compiler for a type; rules about plain strings and numbers share one."""
    return RuleCompiler(declared)


def _read(compiled: Any, optional_old: bool) -> Compiled:
    checked = read_checked(compiled.serialize())
    inner = checked.root
    if optional_old and inner.loop is not None:
        inner = inner.loop.result
    return Compiled((), str(compiled.return_type()), checked, inner)


def _try(environment: Any, text: str) -> tuple[Any, str]:
    try:
        return environment.compile(text), ""
    except RuntimeError as problem:
        return None, str(problem)


def _environment(variables: dict[str, Any], pool: Any) -> Any:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    extensions = [ext_optional.ExtOptional(), ext_strings.ExtStrings(), ext_bindings.ExtBindings()]
    options = {"descriptor_pool": pool} if pool is not None else {}
    return cel.NewEnv(variables=variables, extensions=extensions, functions=_functions(), **options)


@functools.cache
def _functions() -> list[Any]:
    from crossply.schema.cel_library import declarations

    return declarations()
