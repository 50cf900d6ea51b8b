"""Compiles the x-kubernetes-validations of a schema against its declared types, and estimates their costs.

An expression uses no other fields than those whose names occur in it. Types are therefore declared with these
fields alone, which takes a fraction of the time for a large schema. What was compiled is kept for other
definitions with the same rule.

The definitions of a provider have thousands of rules such as `has(self.forProvider.name)`, each about another
field. With the names of fields replaced by numbered ones, in the expression and in the type, most of them are
the same, and so are their costs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from crossply.apiserver.apiextensions.cel_rule_cost import estimate
from crossply.apiserver.apiextensions.cel_size_estimates import Sized, restricted_size, sizes
from crossply.schema.cel_ast import Checked, Node, read_checked, uses_variable
from crossply.schema.cel_error_translation import compile_issues
from crossply.schema.cel_expression_rewriting import TOKEN, accepted
from crossply.schema.cel_literal_checks import literal_issues
from crossply.schema.cel_types import Declared, declare, restricted, words_in
from crossply.values import Object

_OPTIONAL = "cel.bind(oldSelf, hasOldSelf ? optional.of(previous) : optional.none(), "
_PREFIX = "field_"
_WORD = re.compile(r"[A-Za-z_]\w*")


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
        from crossply.schema.cel_types_as_protobuf import checked_type

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


class _Renamed(NamedTuple):
    """An expression with numbered fields, the type of its data, and the sizes of that."""

    text: str
    declared: Declared
    size: Sized


def with_numbered_fields(text: str, declared: Declared, size: Sized) -> _Renamed:
    """Number the fields that an expression uses, unless a name of one may mean something else in it, too."""
    words = list(_words(text))
    if any(word.startswith(_PREFIX) for word, _, _ in words):
        return _Renamed(text, declared, size)
    others = {word for word, _, is_field in words if not is_field}
    candidates = [word for word, _, is_field in words if is_field and word not in others]
    fields = _fields_of(declared)
    used = [word for word in dict.fromkeys(candidates) if word in fields]
    numbered = {word: f"{_PREFIX}{number}" for number, word in enumerate(used)}
    parts, end = [], 0
    for word, start, _ in words:
        if word in numbered:
            parts += [text[end:start], numbered[word]]
            end = start + len(word)
    return _Renamed(
        "".join([*parts, text[end:]]), _renamed(declared, numbered), _renamed_size(size, numbered)
    )


def _words(text: str) -> Iterator[tuple[str, int, bool]]:
    """The words of an expression, where each starts, and whether it selects a field."""
    tokens = [token for token in TOKEN.finditer(text) if token.lastgroup != "blank"]
    for index, token in enumerate(tokens):
        if token.lastgroup != "text" and _WORD.fullmatch(token[0]):
            before = tokens[index - 1][0] if index else ""
            after = tokens[index + 1][0] if index + 1 < len(tokens) else ""
            yield token[0], token.start(), before == "." and after != "("


def _fields_of(declared: Declared) -> set[str]:
    names = {escaped for escaped, _, _ in declared.fields}
    below = [member for _, _, member in declared.fields]
    for member in [*below, *([declared.element] if declared.element else [])]:
        names |= _fields_of(member)
    return names


def _renamed(declared: Declared, numbered: Mapping[str, str]) -> Declared:
    fields = []
    for escaped, _, member in declared.fields:
        name = numbered.get(escaped, escaped)
        fields.append((name, name, _renamed(member, numbered)))
    fields.sort(key=lambda field: field[0])
    element = declared.element and _renamed(declared.element, numbered)
    return Declared(declared.kind, element, tuple(fields))


def _renamed_size(size: Sized, numbered: Mapping[str, str]) -> Sized:
    fields = [(numbered.get(name, name), _renamed_size(member, numbered)) for name, member in size.fields]
    element = size.element and _renamed_size(size.element, numbered)
    return size._replace(element=element, fields=tuple(sorted(fields)))
