"""Validates CEL expressions before they are stored: they must compile, to a result of the right type.

The variables of a policy have the types of their expressions, in order of declaration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from crossply.apiserver.admission.cel_environment import new_environment
from crossply.schema.cel_error_translation import compile_issues
from crossply.schema.cel_expression_rewriting import rewritten
from crossply.schema.field_errors import INVALID, FieldError
from crossply.values import Object

BOOL = ("bool",)
_TEXT = ("string",)
_TEXT_OR_NULL = ("string", "null_type")
_ALWAYS = ("object", "oldObject", "request", "authorizer")
_OF_POLICIES = (*_ALWAYS, "namespaceObject")
_GO_NAMES = {"NULL": "null_type"}
_UNDECLARED_VARIABLE = re.compile(r"undeclared reference to 'variables\.([^']*)' \(in container ''\)")


class StoredExpressions:
    """The names that the expressions of one object may use."""

    def __init__(self, names: tuple[str, ...] = _ALWAYS) -> None:
        self._names = names
        self._variables: dict[str, Any] = {}
        self._environment: Any = None

    def declare(self, name: str, text: str) -> str:
        """Declare a variable; returns what is wrong with its expression, or ""."""
        from cel_expr_python import cel

        kind, problem = self._compile(text)
        self._variables[f"variables.{name}"] = cel.Type.DYN if problem else kind
        self._environment = None
        return problem

    def problem(self, text: str, types: tuple[str, ...]) -> str:
        """What is wrong with an expression that must be of one of these types, or ""."""
        kind, problem = self._compile(text)
        if problem:
            return problem
        name = _GO_NAMES.get(str(kind)) or str(kind).lower()
        if name in types:
            return ""
        expected = types[0] if len(types) == 1 else f"one of [{' '.join(types)}]"
        return f"must evaluate to {expected} but got {name}"

    def _compile(self, text: str) -> tuple[Any, str]:
        if self._environment is None:
            self._environment = self._make()
        try:
            return self._environment.compile(text).return_type(), ""
        except RuntimeError as problem:
            rewritten_text = rewritten(text, str(problem))
            if rewritten_text != text:
                return self._compile(rewritten_text)
            message = _UNDECLARED_VARIABLE.sub(r"undefined field '\1'", str(problem))
            return None, "compilation failed: " + "\n".join(compile_issues(message))

    def _make(self) -> Any:
        from cel_expr_python import cel

        return new_environment({**dict.fromkeys(self._names, cel.Type.DYN), **self._variables})


def check_stored_conditions(
    conditions: Any, path: str, expressions: StoredExpressions | None = None
) -> Iterator[FieldError]:
    known = expressions or StoredExpressions()
    for index, condition in enumerate(conditions):
        yield from _check(known, condition, "expression", BOOL, f"{path}[{index}]")


def check_stored_policy(spec: Object) -> Iterator[FieldError]:
    params = ("params",) if spec.get("paramKind") else ()
    known = StoredExpressions((*_OF_POLICIES, *params))
    yield from check_stored_conditions(spec.get("matchConditions") or (), "spec.matchConditions", known)
    for index, variable in enumerate(spec.get("variables") or ()):
        text = variable.get("expression", "")
        if text.strip() and (problem := known.declare(variable.get("name", ""), text)):
            yield FieldError(INVALID, f"spec.variables[{index}].expression", text, problem)
    for index, validation in enumerate(spec.get("validations") or ()):
        yield from _check(known, validation, "expression", BOOL, f"spec.validations[{index}]")
        yield from _check(known, validation, "messageExpression", _TEXT, f"spec.validations[{index}]")
    for index, annotation in enumerate(spec.get("auditAnnotations") or ()):
        yield from _check(
            known, annotation, "valueExpression", _TEXT_OR_NULL, f"spec.auditAnnotations[{index}]"
        )


def _check(
    known: StoredExpressions, obj: Object, key: str, types: tuple[str, ...], path: str
) -> Iterator[FieldError]:
    text = obj.get(key) or ""
    if text.strip() and (problem := known.problem(text, types)):
        yield FieldError(INVALID, f"{path}.{key}", text, problem)
