"""The two environments of a node's rules: one checks expressions by type, one evaluates them on plain data.

Both have the same functions: CEL's own, the optional, strings and bindings extensions, and the library that
Kubernetes adds (`cel_library`).
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from crossply.schema.cel_error_translation import compile_issues
from crossply.schema.cel_expression_rewriting import accepted
from crossply.schema.cel_literal_checks import literal_issues
from crossply.schema.cel_program import Program
from crossply.schema.cel_types import Declared

_OPTIONAL = "cel.bind(oldSelf, hasOldSelf ? optional.of({old}) : optional.none(), "


class Checked(NamedTuple):
    """An expression that was checked: the kind of its value, what is wrong with it, what to evaluate."""

    kind: str
    issues: list[str]
    text: str


class Environments:
    """The environments for one declared type."""

    def __init__(self, declared: Declared) -> None:
        self._checking = _checking_environments(declared)

    def check(self, text: str, optional: bool) -> Checked:
        """Check an expression by the types it uses."""
        prefix = _OPTIONAL.format(old="previous") if optional else ""
        environment = self._checking["optional" if optional else "old"]
        wrapped = f"{prefix}{text})" if optional else text
        rewritten, kind, problem = accepted(wrapped, lambda expression: _compiled(environment, expression))
        if problem:
            _, first = _compiled(environment, wrapped)
            return Checked(kind, compile_issues(first, len(prefix)) or [problem], text)
        return Checked(kind, literal_issues(text), rewritten[len(prefix) : -1] if optional else rewritten)

    def mentions_old(self, text: str) -> bool:
        """Return whether an expression uses `oldSelf` as a variable, not only as a word in a text."""
        try:
            self._checking["new"].compile(text)
        except RuntimeError as problem:
            return re.search(r"undeclared reference to 'oldSelf\b", str(problem)) is not None
        return False

    def program(self, text: str, optional: bool) -> Program:
        """Compile a checked expression for evaluation."""
        prefix = _OPTIONAL.format(old="oldSelf") if optional else ""
        expression = f"{prefix}{text})" if optional else text
        return Program(_evaluating_environment().compile(expression), expression)


def _compiled(environment: Any, text: str) -> tuple[str, str]:
    """Return the kind of value that an expression has, or the checker's error."""
    try:
        return str(environment.compile(text).return_type()), ""
    except RuntimeError as problem:
        return "", str(problem)


@functools.cache
def _evaluating_environment() -> Any:
    from cel_expr_python import cel

    kinds = {"self": cel.Type.DYN, "oldSelf": cel.Type.DYN, "hasOldSelf": cel.Type.BOOL}
    return cel.NewEnv(variables=kinds, extensions=_extensions(), functions=_functions())


def _checking_environments(declared: Declared) -> dict[str, Any]:
    from cel_expr_python import cel

    from crossply.schema.cel_types_as_protobuf import checked_type

    kind, pool = checked_type(declared)
    variables = {
        "new": {"self": kind},
        "old": {"self": kind, "oldSelf": kind},
        "optional": {"self": kind, "previous": kind, "hasOldSelf": cel.Type.BOOL},
    }
    return {
        name: cel.NewEnv(
            descriptor_pool=pool, variables=names, extensions=_extensions(), functions=_functions()
        )
        for name, names in variables.items()
    }


def _extensions() -> list[Any]:
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    return [ext_optional.ExtOptional(), ext_strings.ExtStrings(), ext_bindings.ExtBindings()]


@functools.cache
def _functions() -> list[Any]:
    from crossply.schema.cel_library import declarations

    return declarations()
