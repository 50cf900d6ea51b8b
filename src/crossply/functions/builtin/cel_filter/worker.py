"""CEL as a language of confined workers. A program is a list of expressions and the kinds of their values.

A question is a line of JSON (which expressions are asked about which resources) and the request as the
function protocol encodes it. Variables have the types of the protocol's messages, so that an expression
that names a field that there is not is refused, even within `has()`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import orjson
from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_encoders, ext_math, ext_optional, ext_strings

from crossply.functions.builtin.cel_filter import BOOL, CONDITION
from crossply.functions.builtin.sandbox.worker import Answer
from crossply.functions.proto.v1 import run_function_pb2 as messages
from crossply.schema.cel_library import declarations
from crossply.schema.cel_texts import compile_issues, evaluation_failure, is_cost
from crossply.values import Object
from crossply.values.goquote import quote

_BUDGET = "expression takes too many steps"


def prepare(program: bytes) -> None:
    """Make the environment; there is nothing that depends on the program."""
    _environment()


def load(program: bytes) -> Answer:
    """Compile the expressions."""
    expressions = [_compiled(text, kind) for text, kind in orjson.loads(program)]

    def answer(question: bytes) -> bytes:
        asked, _, encoded = question.partition(b"\n")
        request = messages.RunFunctionRequest.FromString(encoded)
        return orjson.dumps(
            [_value(expressions[index], request, about) for index, about in orjson.loads(asked)]
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
    """What evaluates an expression; one that is wrong says so whenever it is asked."""
    try:
        program = _environment().compile(text)
    except (RuntimeError, ValueError) as error:
        issues = compile_issues(str(error)) or [str(error)]
        problem = f"cannot type-check {_noun(kind)}: " + "\n".join(issues)
        return lambda data: (None, problem)
    wrong = _wrong_type(text, kind, str(program.return_type()).lower())
    if wrong:
        return lambda data: (None, wrong)
    return lambda data: _evaluated(program, kind, data)


def _noun(kind: str) -> str:
    return "CEL condition" if kind == CONDITION else "expression"


def _wrong_type(text: str, kind: str, gives: str) -> str:
    """Why an expression cannot be of the kind; nothing where it can."""
    if kind == CONDITION:
        return "" if gives in ("bool", "dyn") else f"CEL condition must return bool, got {gives}"
    if gives == kind:
        return ""
    wanted = "a boolean" if kind == BOOL else f"a {kind}"
    return f"expression {quote(text)} must return {wanted}, but will return {gives} instead"


def _evaluated(program: Any, kind: str, data: Object) -> tuple[Any, str]:
    failed = f"cannot evaluate CEL {'condition' if kind == CONDITION else 'program'}"
    try:
        result = program.eval(data=data)
    except RuntimeError as error:
        problem = _BUDGET if is_cost(str(error)) else str(error)
        return None, f"{failed}: {problem}"
    gives = str(result.type())
    if gives == "ERROR":
        return None, f"{failed}: {_go_words(str(result.value()))}"
    if kind == CONDITION and gives != "BOOL":
        return None, "CEL condition result is not bool"
    return result.plain_value(), ""


def _value(expression: Callable[[Object], tuple[Any, str]], request: Any, about: str | None) -> Any:
    resource = messages.Resource() if about is None else request.desired.resources[about]
    variables = {"observed": request.observed, "desired": request.desired, "context": request.context}
    return expression({**variables, "resource": resource.resource, "name": about or ""})


def _go_words(problem: str) -> str:
    said = evaluation_failure(problem, "", {})
    return said.removesuffix(" evaluating rule: ").removesuffix(" for rule: ")
