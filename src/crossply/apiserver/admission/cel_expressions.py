"""CEL expressions about a write: compiled once, evaluated with its objects.

The types of the objects are not known in advance, so expressions are checked without schemas. An expression
that does not compile fails at each evaluation.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from crossply.apiserver.admission.cel_environment import new_environment
from crossply.schema.cel_error_translation import compile_issues, evaluation_failure, is_cost
from crossply.schema.cel_expression_rewriting import accepted
from crossply.schema.cel_program import Program

_NAMES = ("object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer")
_OF_NULL = "SELECT to non-message type"
_OUT_OF_BUDGET = "operation cancelled: actual cost limit exceeded"


class Outcome(NamedTuple):
    """The value of an expression, or why it has none."""

    value: Any = None
    problem: str = ""


class Expression:
    """One expression; compiled at its first evaluation."""

    __slots__ = ("_problem", "_program", "text", "variables")

    def __init__(self, text: str) -> None:
        self.text = text
        self.variables = frozenset(_mentioned(text))
        """The composed variables that the expression uses."""
        self._program: Program | None = None
        self._problem = ""

    def evaluate(self, data: Mapping[str, Any], composed: int = 0) -> Outcome:
        """Evaluate the expression with these variables; `composed` is the size of the composed ones."""
        if self._program is None and not self._problem:
            self._compile()
        if self._program is None:
            return Outcome(None, f"compilation error: {self._problem}")
        value, problem = self._program.evaluate(data, composed)
        if _OF_NULL in problem:
            # In Kubernetes an absent object has no fields; this evaluator reports an error instead.
            without_nulls = {name: {} if v is None else v for name, v in data.items()}
            value, problem = self._program.evaluate(without_nulls, composed)
        if problem:
            return Outcome(None, f"expression '{self.text}' resulted in error: {in_go_words(problem)}")
        return Outcome(value)

    def _compile(self) -> None:
        text, compiled, problem = accepted(self.text, _compiled)
        if problem:
            _, first = _compiled(self.text)
            self._problem = "compilation failed: " + "\n".join(compile_issues(first))
        else:
            self._program = Program(compiled, text)


def _compiled(text: str) -> tuple[Any, str]:
    try:
        return _environment().compile(text), ""
    except RuntimeError as problem:
        return None, str(problem)


def in_go_words(problem: str) -> str:
    """The error of an evaluation, worded as by Kubernetes' evaluator."""
    if is_cost(problem):
        return _OUT_OF_BUDGET
    if "No matching overloads found" in problem or _OF_NULL in problem:
        return "no such overload"
    return evaluation_failure(problem, "", {}).removesuffix(" evaluating rule: ")


def _mentioned(text: str) -> list[str]:
    return re.findall(r"\bvariables\s*\.\s*\??(\w+)", text)


def as_data(value: Any) -> Any:
    """The result of an expression as input for another one."""
    if isinstance(value, datetime):
        from google.protobuf.timestamp_pb2 import Timestamp

        timestamp = Timestamp()
        timestamp.FromDatetime(value)
        return timestamp
    if isinstance(value, timedelta):
        from google.protobuf.duration_pb2 import Duration

        length = Duration()
        length.FromTimedelta(value)
        return length
    if isinstance(value, dict):
        return {key: as_data(member) for key, member in value.items()}
    if isinstance(value, list):
        return [as_data(item) for item in value]
    return value


@functools.cache
def _environment() -> Any:
    from cel_expr_python import cel

    return new_environment(dict.fromkeys(_NAMES, cel.Type.DYN))
