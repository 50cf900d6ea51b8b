"""CEL as a language of confined workers. A program is a list of expressions and the kinds of their values."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from functools import cache
from typing import Any

import orjson
from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_encoders, ext_math, ext_optional, ext_strings

from crossply.functions.builtin.confined.worker import Answer
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
        data, asked = orjson.loads(question)
        _decode_bytes(data)
        return orjson.dumps([_value(expressions[index], data, about) for index, about in asked])

    return answer


@cache
def _environment() -> Any:
    names = ("observed", "desired", "context", "resource")
    variables = {**dict.fromkeys(names, cel.Type.DYN), "name": cel.Type.STRING}
    extensions = (
        ext_optional.ExtOptional(),
        ext_strings.ExtStrings(),
        ext_bindings.ExtBindings(),
        ext_encoders.ExtEncoders(),
        ext_math.ExtMath(),
    )
    return cel.NewEnv(variables=variables, extensions=list(extensions), functions=declarations())


def _compiled(text: str, kind: str) -> Callable[[Object], tuple[Any, str]]:
    """What evaluates an expression; one that is wrong says so whenever it is asked."""
    try:
        program = _environment().compile(text)
    except (RuntimeError, ValueError) as error:
        issues = compile_issues(str(error)) or [str(error)]
        problem = "cannot type-check expression: " + "\n".join(issues)
        return lambda data: (None, problem)
    gives = str(program.return_type()).lower()
    if gives != kind:
        wanted = "a boolean" if kind == "bool" else f"a {kind}"
        wrong = f"expression {quote(text)} must return {wanted}, but will return {gives} instead"
        return lambda data: (None, wrong)
    return lambda data: _evaluated(program, data)


def _evaluated(program: Any, data: Object) -> tuple[Any, str]:
    try:
        result = program.eval(data=data)
    except RuntimeError as error:
        problem = _BUDGET if is_cost(str(error)) else str(error)
        return None, f"cannot evaluate CEL program: {problem}"
    if str(result.type()) == "ERROR":
        return None, f"cannot evaluate CEL program: {_go_words(str(result.value()))}"
    return result.plain_value(), ""


def _value(expression: Callable[[Object], tuple[Any, str]], data: Object, about: str | None) -> Any:
    resource = data["desired"]["resources"].get(about, {}).get("resource") if about is not None else {}
    return expression({**data, "resource": resource, "name": about or ""})


def _decode_bytes(data: Object) -> None:
    for state in (data["observed"], data["desired"]):
        for resource in (state["composite"], *state["resources"].values()):
            details = resource["connection_details"]
            resource["connection_details"] = {key: b64decode(each) for key, each in details.items()}


def _go_words(problem: str) -> str:
    said = evaluation_failure(problem, "", {})
    return said.removesuffix(" evaluating rule: ").removesuffix(" for rule: ")
