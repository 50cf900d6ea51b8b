"""CEL as a language of sandboxed workers. A program is a list of expressions with their types.

A question is a line of JSON (which expressions to evaluate about which resources) and the encoded request.
Variables have the types of the protocol's messages, so the compiler refuses unknown fields, even in `has()`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import orjson
from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_encoders, ext_math, ext_optional, ext_strings

from crossply.functions.builtin.cel_filter import BOOL, CONDITION, TEMPLATE_CONDITION
from crossply.functions.builtin.sandbox.worker import Answer
from crossply.functions.proto.v1 import run_function_pb2 as messages
from crossply.schema.cel_error_translation import compile_issues, evaluation_failure, is_cost
from crossply.schema.cel_library import declarations
from crossply.values import Object
from crossply.values.goquote import quote

_BUDGET = "expression takes too many steps"


def prepare(program: bytes) -> None:
    """Build the CEL environment, which does not depend on the program."""
    _environment()


def load(program: bytes) -> Answer:
    expressions = [_compiled(text, kind) for text, kind in orjson.loads(program)]

    def answer(question: bytes) -> bytes:
        questions, _, encoded = question.partition(b"\n")
        request = messages.RunFunctionRequest.FromString(encoded)
        return orjson.dumps(
            [_value(expressions[index], request, about) for index, about in orjson.loads(questions)]
        )

    return answer


@cache
def _environment() -> Any:
    state, struct = (cel.Type(name) for name in ("apiextensions.fn.proto.v1.State", "google.protobuf.Struct"))
    variables = {
        "observed": state,
        "desired": state,
        "context": struct,
        "resource": struct,
        "name": cel.Type.STRING,
    }
    extensions = (
        ext_optional.ExtOptional(),
        ext_strings.ExtStrings(),
        ext_bindings.ExtBindings(),
        ext_encoders.ExtEncoders(),
        ext_math.ExtMath(),
    )
    return cel.NewEnv(
        descriptor_pool=messages.DESCRIPTOR.pool,
        variables=variables,
        extensions=list(extensions),
        functions=declarations(),
    )


def _compiled(text: str, kind: str) -> Callable[[Object], tuple[Any, str]]:
    """Compile an expression; an invalid one returns its error whenever it is evaluated."""
    try:
        program = _environment().compile(text)
    except (RuntimeError, ValueError) as error:
        issues = "\n".join(compile_issues(str(error)) or [str(error)])
        problem = f"{_compile_error(kind, issues)}: {issues}"
        return lambda data: (None, problem)
    type_error = _wrong_type(text, kind, str(program.return_type()).lower())
    if type_error:
        return lambda data: (None, type_error)
    return lambda data: _evaluate(program, kind, data)


def _compile_error(kind: str, issues: str) -> str:
    if kind == TEMPLATE_CONDITION:
        return "CEL Parse error" if ": Syntax error: " in issues else "CEL TypeCheck error"
    verb = "parse" if ": Syntax error: " in issues else "type-check"
    return f"cannot {verb} {'CEL condition' if kind == CONDITION else 'expression'}"


def _wrong_type(text: str, kind: str, gives: str) -> str:
    """The error of an expression with the wrong type, or an empty text."""
    if kind == CONDITION:
        return "" if gives in ("bool", "dyn") else f"CEL condition must return bool, got {gives}"
    if kind == TEMPLATE_CONDITION:
        problem = f"CEL Type error: expression '{text}' must return a boolean, got {gives} instead"
        return "" if gives == BOOL else problem
    if gives == kind:
        return ""
    expected = "a boolean" if kind == BOOL else f"a {kind}"
    return f"expression {quote(text)} must return {expected}, but will return {gives} instead"


_EVALUATION_ERRORS = {
    CONDITION: "cannot evaluate CEL condition",
    TEMPLATE_CONDITION: "CEL program Evaluation",
}


def _evaluate(program: Any, kind: str, data: Object) -> tuple[Any, str]:
    failed = _EVALUATION_ERRORS.get(kind, "cannot evaluate CEL program")
    try:
        result = program.eval(data=data)
    except RuntimeError as error:
        problem = _BUDGET if is_cost(str(error)) else str(error)
        return None, f"{failed}: {problem}"
    gives = str(result.type())
    if gives == "ERROR":
        return None, f"{failed}: {_go_message(str(result.value()))}"
    if kind == CONDITION and gives != "BOOL":
        return None, "CEL condition result is not bool"
    return result.plain_value(), ""


def _value(expression: Callable[[Object], tuple[Any, str]], request: Any, about: str | None) -> Any:
    resource = messages.Resource() if about is None else request.desired.resources[about]
    variables = {"observed": request.observed, "desired": request.desired, "context": request.context}
    return expression({**variables, "resource": resource.resource, "name": about or ""})


def _go_message(problem: str) -> str:
    message = evaluation_failure(problem, "", {})
    return message.removesuffix(" evaluating rule: ").removesuffix(" for rule: ")
