"""Starlark as a language of confined workers. A program is a script, its modules, and how it is called."""

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
from crossply.functions.builtin.starlark import script_calls as natives
from crossply.functions.builtin.starlark.script import Script
from crossply.values import Object
from crossply.values.structs import from_wire

_CALLS = 200
"""How deep functions may call one another."""

_MARGIN = 0.5
"""How much sooner, in seconds and in parts of the memory, a script is stopped than its process is."""

_PLACE = re.compile(r"^ *--> (\S+:\d+:\d+)$", re.MULTILINE)
_CALL = re.compile(r"^ *\* (\S+:\d+), in ", re.MULTILINE)
_PROBLEM = re.compile(r"^(?:error: |Wrong: |\w+Error: )+(.*?)(?=^ *--> |\Z)", re.MULTILINE | re.DOTALL)


class _Current:
    """The run that the functions of the prelude belong to: there is one at a time."""

    run: natives.Run


class _Library:
    """What scripts find predeclared, made once for all workers."""

    frozen: Any = None


def prepare(program: bytes) -> None:
    """Make the prelude; nothing else depends on the program."""
    if _Library.frozen is None:
        _Library.frozen = _prelude()


def load(program: bytes) -> Answer:
    """Read the script and its modules."""
    try:
        script = Script(orjson.loads(program), _Library.frozen)
    except starlark.StarlarkError as error:
        raise ProgramFailed(_told(error)) from None
    return lambda question: _answer(script, question)


def _answer(script: Script, question: bytes) -> bytes:
    watch = _Watch()
    request = from_wire(orjson.loads(question))
    options = starlark.EvalOptions(check_cancelled=watch.is_over, max_callstack_size=_CALLS)
    try:
        if script.defines_main:
            return script.returned(options, orjson.dumps(request))
        return orjson.dumps(_collected(script, options, request))
    except starlark.StarlarkError as error:
        raise ProgramFailed(_told(error, watch.problem)) from None
    except orjson.JSONDecodeError as error:
        raise ProgramFailed(f"script gives something that is no plain data: {error}") from None


def _collected(script: Script, options: Any, request: Object) -> Object:
    run = _Current.run = natives.Run(request)
    try:
        return script.collected(options, request, run)
    except starlark.StarlarkError:
        if run.fatal is None:
            raise
        return {"fatal": run.fatal, **run.said()}


def _prelude() -> Any:
    module = starlark.Module()
    module["native_unset"] = natives.UNSET
    for name in natives.NAMES:
        module.add_callable(f"native_{name}", _native(name))
    for name, function in libraries.functions().items():
        module.add_callable(f"module_{name}", function)
    for name in ("prelude.star", "schemas.star"):
        with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
            source = starlark.parse("prelude.star", file.read(), Script.dialect())
        starlark.eval(module, source, Script.globals())
    _warm()
    return module.freeze()


def _warm() -> None:
    """Have everything imported that a library imports when it is first used: behind the walls it cannot."""
    known = libraries.functions()
    known["regex_match"]("a", "a")
    known["yaml_decode"](known["yaml_encode"]({"a": "b: c"}))


def _native(name: str) -> Any:
    return lambda *values, **named: getattr(_Current.run, f"do_{name}")(*values, **named)


class _Watch:
    """Looks at the time and the memory that a script takes, every thousand steps of it."""

    def __init__(self) -> None:
        self._deadline = monotonic() + SECONDS - _MARGIN
        self._most = _resident() + MEMORY * _MARGIN / 1024
        self.problem = ""

    def is_over(self) -> bool:
        """Whether the script has taken more than it may."""
        if monotonic() > self._deadline:
            self.problem = f"takes longer than {SECONDS:g} seconds"
        elif _resident() > self._most:
            self.problem = f"takes too much of its {MEMORY >> 20} MiB of memory"
        return bool(self.problem)


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _told(error: Exception, instead: str = "") -> str:
    """An error in one line: where, and what. Starlark's own text has all calls that lead there."""
    text = str(error)
    problem = _PROBLEM.search(text)
    what = instead or (problem[1].strip() if problem else text.strip())
    place = _PLACE.search(text)
    if place is not None and not place[1].startswith("prelude"):
        return f"{place[1]}: {what}"
    own = [call for call in _CALL.findall(text) if not call.startswith("prelude")]
    return f"{own[-1]}: {what}" if own else what
