"""Starlark as a language of sandboxed workers. A program is a script, its modules, and how it is called."""

from __future__ import annotations

import os
import re
import resource
from time import monotonic
from typing import Any

import orjson
import starlark

from crossply.functions.builtin.sandbox.limits import MEMORY, SECONDS
from crossply.functions.builtin.sandbox.worker import Answer, ProgramFailed
from crossply.functions.builtin.starlark import libraries
from crossply.functions.builtin.starlark import script_calls as script_calls
from crossply.functions.builtin.starlark.script import Script
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire

_CALLS = 200
"""The maximum depth of calls."""

_MARGIN = 0.5
"""A script is stopped this many seconds, and at this share of the memory, before its process is."""

_LOCATION = re.compile(r"^ *--> (\S+:\d+:\d+)$", re.MULTILINE)
_CALL = re.compile(r"^ *\* (\S+:\d+), in ", re.MULTILINE)
_MESSAGE = re.compile(r"^(?:error: |\w+Error: )+(.*?)(?=^ *--> |\Z)", re.MULTILINE | re.DOTALL)


class _Current:
    """The run of the current question."""

    run: script_calls.ScriptRun


class _Library:
    """The predeclared names of scripts, built once for all workers."""

    frozen: Any = None


def prepare(program: bytes) -> None:
    """Build the prelude, which does not depend on the program."""
    if _Library.frozen is None:
        _Library.frozen = _prelude()


def load(program: bytes) -> Answer:
    try:
        script = Script(orjson.loads(program), _Library.frozen)
    except starlark.StarlarkError as error:
        raise ProgramFailed(_error_message(error)) from None
    return lambda question: _answer(script, question)


def _answer(script: Script, question: bytes) -> bytes:
    watch = _ResourceWatch()
    request = from_wire(orjson.loads(question))
    options = starlark.EvalOptions(check_cancelled=watch.is_exceeded, max_callstack_size=_CALLS)
    try:
        if script.defines_main:
            return script.call_main(options, orjson.dumps(request))
        return orjson.dumps(_evaluate(script, options, request))
    except starlark.StarlarkError as error:
        raise ProgramFailed(_error_message(error, watch.exceeded)) from None
    except orjson.JSONDecodeError as error:
        raise ProgramFailed(f"script gives something that is no plain data: {error}") from None


def _evaluate(script: Script, options: Any, request: Object) -> Object:
    run = _Current.run = script_calls.ScriptRun(request)
    try:
        return script.evaluate(options, request, run)
    except starlark.StarlarkError:
        if run.fatal is None:
            raise
        return {"fatal": run.fatal, **run.response_data()}


def _prelude() -> Any:
    module = starlark.Module()
    module["native_unset"] = script_calls.UNSET
    for name in script_calls.NAMES:
        module.add_callable(f"native_{name}", _native(name))
    for name, function in libraries.functions().items():
        module.add_callable(f"module_{name}", function)
    for name in ("prelude.star", "schemas.star"):
        with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
            source = starlark.parse("prelude.star", file.read(), Script.dialect())
        starlark.eval(module, source, Script.globals())
    _import_lazily_loaded()
    return module.freeze()


def _import_lazily_loaded() -> None:
    """Trigger lazy imports of libraries, which fail in the confined process."""
    functions_by_name = libraries.functions()
    functions_by_name["regex_match"]("a", "a")
    functions_by_name["yaml_decode"](functions_by_name["yaml_encode"]({"a": "b: c"}))


def _native(name: str) -> Any:
    return lambda *values, **named: getattr(_Current.run, f"do_{name}")(*values, **named)


class _ResourceWatch:
    """Checks the time and memory of a script; Starlark calls it every thousand steps."""

    def __init__(self) -> None:
        self._deadline = monotonic() + SECONDS - _MARGIN
        self._most = _resident() + MEMORY * _MARGIN / 1024
        self.exceeded = ""

    def is_exceeded(self) -> bool:
        if monotonic() > self._deadline:
            self.exceeded = f"takes longer than {SECONDS:g} seconds"
        elif _resident() > self._most:
            self.exceeded = f"takes too much of its {MEMORY >> 20} MiB of memory"
        return bool(self.exceeded)


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _error_message(error: Exception, instead: str = "") -> str:
    """The error in one line with its location. Starlark's own message lists all calls."""
    text = str(error)
    match = _MESSAGE.search(text)
    message = instead or (match[1].strip() if match else text.strip())
    place = _LOCATION.search(text)
    if place is not None and not place[1].startswith("prelude"):
        return f"{place[1]}: {message}"
    own = [call for call in _CALL.findall(text) if not call.startswith("prelude")]
    return f"{own[-1]}: {message}" if own else message
