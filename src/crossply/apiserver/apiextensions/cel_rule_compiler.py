"""Compiles the x-kubernetes-validations of a schema against its declared types, and estimates their costs.

An expression uses no other fields than those whose names occur in it. Types are therefore declared with these
fields alone, which takes a fraction of the time for a large schema. What was compiled is kept for other
definitions with the same rule.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from crossply.apiserver.apiextensions.cel_rule_cost import estimate
from crossply.apiserver.apiextensions.cel_rule_deduplication import with_numbered_fields
from crossply.apiserver.apiextensions.cel_size_estimates import Sized, restricted_size, sizes
from crossply.schema.cel_ast import Checked, Node, read_checked, uses_variable
from crossply.schema.cel_expression_rewriting import accepted
from crossply.schema.cel_literal_checks import literal_issues
from crossply.schema.cel_messages import compile_issues
from crossply.schema.cel_types import Declared, declare, restricted, words_in
from crossply.values import Object

_OPTIONAL = "cel.bind(oldSelf, hasOldSelf ? optional.of(previous) : optional.none(), "


class Compiled(NamedTuple):
    """What is known of a compiled expression: its issues, or its result kind and cost."""

    issues: tuple[str, ...] = ()
    kind: str = ""
    cost: int = 0
    """The maximum cost of evaluating it once."""
    uses_old: bool = False
    """Whether it uses `oldSelf`."""


class RuleCompiler:
    """Compiles the expressions of one schema."""

    def __init__(self, schema: Object, is_resource: bool, names: frozenset[str]) -> None:
        """`names` are the words in all expressions that will be compiled."""
        self._schema = schema
        self._is_resource = is_resource
        self._used = declare(schema, is_resource, names)
        self.size = sizes(schema, is_resource, names)
        """None if expressions can see no data of this schema."""

    @property
    def has_type(self) -> bool:
        """Whether expressions can see data of this schema at all."""
        return self._used is not None and self.size is not None

    def compile(self, text: str, optional_old: bool) -> Compiled:
        """Compile an expression; with `optional_old`, `oldSelf` is an optional value."""
        assert self._used is not None, "has_type comes first"
        assert self.size is not None
        words = words_in(text)
        size = restricted_size(self.size, words)
        renamed = with_numbered_fields(text, restricted(self._used, words), size)
        key = (*renamed, optional_old)
        compiled = _compiled.get(key)
        if compiled is None:
            compiled = type_checker(renamed.declared).compile(renamed.text, optional_old, renamed.size)
            if len(text) <= _LONGEST_REMEMBERED:
                if len(_compiled) >= _MOST_REMEMBERED:
                    _compiled.clear()
                _compiled[key] = compiled
        # Issues show the expression and its types: they come from those that the user wrote.
        return self._whole.compile(text, optional_old, size) if compiled.issues else compiled

    @functools.cached_property
    def _whole(self) -> TypeChecker:
        declared = declare(self._schema, self._is_resource)
        assert declared is not None
        return type_checker(declared)


_MOST_REMEMBERED = 512
_LONGEST_REMEMBERED = 1024
_compiled: dict[tuple[str, Declared, Sized, bool], Compiled] = {}
"""Compiled expressions by what they depend on."""


class TypeChecker:
    """Compiles expressions about data of one declared type."""

    def __init__(self, declared: Declared) -> None:
        from crossply.schema.cel_checker import checked_type

        self._type, self._pool = checked_type(declared)

    def compile(self, text: str, optional_old: bool, size: Sized) -> Compiled:
        """Compile an expression about data of these sizes."""
        prefix = _OPTIONAL if optional_old else ""
        wrapped = f"{prefix}{text})" if optional_old else text
        environment = self._optional if optional_old else self._plain
        _, compiled, problem = accepted(wrapped, lambda text: _try(environment, text))
        if problem:
            _, first = _try(environment, wrapped)
            return Compiled(tuple(compile_issues(first, len(prefix)) or [problem]))
        issues = literal_issues(text)
        return Compiled(tuple(issues)) if issues else _read(compiled, optional_old, size)

    @functools.cached_property
    def _plain(self) -> Any:
        return _environment({"self": self._type, "oldSelf": self._type}, self._pool)

    @functools.cached_property
    def _optional(self) -> Any:
        from cel_expr_python import cel

        variables = {"self": self._type, "previous": self._type, "hasOldSelf": cel.Type.BOOL}
        return _environment(variables, self._pool)


@functools.lru_cache(maxsize=64)
def type_checker(declared: Declared) -> TypeChecker:
    """The checker of a type; rules about plain strings and numbers share one."""
    return TypeChecker(declared)


def _read(compiled: Any, optional_old: bool, size: Sized) -> Compiled:
    checked = read_checked(compiled.serialize())
    expression = _without_wrapping(checked, optional_old)
    cost = estimate(checked, size, expression)
    return Compiled((), str(compiled.return_type()), cost, uses_variable(expression, "oldSelf"))


def _without_wrapping(checked: Checked, optional_old: bool) -> Node:
    """The expression as the user wrote it."""
    root = checked.root
    return root.loop.result if optional_old and root.loop is not None else root


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
