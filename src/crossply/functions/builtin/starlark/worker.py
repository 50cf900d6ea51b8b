"""Starlark as a language of sandboxed workers. A program is a script, its modules, and how it is called."""

from __future__ import annotations

import contextlib

import orjson

from crossply.functions.builtin.sandbox.limit_constants import MEMORY, SECONDS
from crossply.functions.builtin.sandbox.worker import Answer, ProgramFailed, TimeLimitExceeded
from crossply.functions.builtin.starlark.conversion import plain
from crossply.functions.builtin.starlark.language import freezing_and_iteration
from crossply.functions.builtin.starlark.language.backtrace import frames_of
from crossply.functions.builtin.starlark.language.calls import call
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.library.regexes import REGEX
from crossply.functions.builtin.starlark.library.yaml_module import YAML
from crossply.functions.builtin.starlark.predeclared import Environment
from crossply.functions.builtin.starlark.response_builder import Outcome, OutcomeProblem
from crossply.functions.builtin.starlark.response_builtins import Fatal
from crossply.functions.builtin.starlark.script import RUN_ERRORS, Script, ScriptProblem
from crossply.functions.builtin.starlark.sequencing import DependencyProblem
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire

_FIRST_USES = (
    (REGEX, "replace_all", ("a", "a", "$0")),
    (REGEX, "match", ("(", "")),
    (YAML, "encode", ({"a": "b: c"},)),
    (YAML, "decode", ("a: b",)),
    (YAML, "decode", ("[" * 1000,)),
    (YAML, "decode", ("a: [",)),
)
"""Calls of libraries that import others on first use."""


def prepare(program: bytes) -> None:
    """Use the libraries that import others on first use: a confined process cannot."""
    for module, name, arguments in () if program else _FIRST_USES:
        with contextlib.suppress(EvalError):
            module.members[name].implementation(arguments, {})


def load(program: bytes) -> Answer:
    loaded = orjson.loads(program)
    script = Script(loaded)
    return lambda question: _encoded(_answer(script, loaded, from_wire(orjson.loads(question))))


def _encoded(answer: Object) -> bytes:
    try:
        return orjson.dumps(answer)
    except TypeError as error:  # it nests too deep, or has text that is no UTF-8
        raise ProgramFailed(f"cannot pass on what the script made: {error}") from None


def _answer(script: Script, program: Object, request: Object) -> Object:
    """The response, or what is wrong: a problem is the message of a fatal result."""
    freezing_and_iteration.start(allows_recursion=script.defines_main)
    try:
        if script.defines_main:
            return _call_main(script, request)
        return _evaluate(script, program, request)
    except (ScriptProblem, OutcomeProblem) as error:
        return {"problem": str(error)}
    except DependencyProblem as error:
        return {"problem": f"dependency validation failed: {error}"}
    except TimeLimitExceeded as error:
        raise ProgramFailed(f"{_last_place(script, error)}takes longer than {SECONDS:g} seconds") from None
    except MemoryError as error:
        place = _last_place(script, error)
        raise ProgramFailed(f"{place}takes more than {MEMORY >> 20} MiB of memory") from None


def _last_place(script: Script, error: BaseException) -> str:
    frames = [frame for frame in frames_of(error, script.sources) if frame.place]
    return f"{frames[-1].place}: " if frames else ""


def _evaluate(script: Script, program: Object, request: Object) -> Object:
    environment = Environment(request)
    outcome = Outcome(
        environment.collected,
        environment.desired,
        environment.observed,
        program["usage_version"],
        program["sequencing_ttl"],
    )
    try:
        script.run(environment.predeclared())
    except Fatal as error:
        return {"fatal": outcome.fatal(str(error))}
    return {"response": outcome.response(environment.dxr, environment.context)}


def _call_main(script: Script, request: Object) -> Object:
    """The value of `main` for a request."""
    environment = Environment(request)
    names = script.run(environment.predeclared())
    if "main" not in names:
        raise ScriptProblem("starlark execution failed: script must define a function main(req)")
    try:
        return {"main": plain(call(names["main"], request))}
    except Fatal as error:
        raise ScriptProblem(str(error)) from None
    except RUN_ERRORS as error:
        raise ScriptProblem(script.failure(error)) from None
