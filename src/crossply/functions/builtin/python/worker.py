"""Python as a language of confined workers. A program is the source of a script.

A script defines `compose(req, rsp)` or `operate(req, rsp)`, which changes the response. It is compiled once
and executed anew for every request, as the published function does: what it leaves in its names is forgotten.
"""

from __future__ import annotations

import sys
from importlib import import_module
from inspect import iscoroutine
from types import CodeType
from typing import Any

from crossply.functions.builtin.confined.worker import Answer, ProgramFailed
from crossply.functions.builtin.python.blame import SCRIPT, blamed
from crossply.functions.builtin.python.surroundings import (
    builtins_for_scripts,
    import_for,
    import_the_sdk,
    refuse,
)
from crossply.functions.builtin.python.truth_as_numbers import NUMBER, number, parsed

_ENTRIES = ("compose", "operate")


def prepare(program: bytes) -> None:
    """Import what the script mentions."""
    if not program:
        import_the_sdk()
        return
    import_for(program.decode())
    if b"async" in program:
        from crossply.functions.builtin.python import quiet_loop  # noqa: F401 - it is needed later


def load(program: bytes) -> Answer:
    """Compile the script."""
    try:
        code = compile(parsed(program.decode(), SCRIPT), SCRIPT, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as problem:
        raise ProgramFailed(blamed(problem)) from None
    except (MemoryError, RecursionError):
        raise ProgramFailed(f"{SCRIPT}: is too large, or nests too deep") from None
    sys.addaudithook(refuse)
    return lambda question: _answer(code, question)


def _answer(code: CodeType, question: bytes) -> bytes:
    messages = import_module("crossplane.function.proto.v1.run_function_pb2")
    request = messages.RunFunctionRequest.FromString(question)
    answer = import_module("crossplane.function.response").to(request)
    try:
        _call(code, request, answer)
        reply: bytes = answer.SerializeToString()
    except ProgramFailed:
        raise
    except BaseException as problem:  # noqa: BLE001 - a script may raise anything, and must not end the worker
        raise ProgramFailed(blamed(problem)) from None
    return reply


def _call(code: CodeType, request: Any, answer: Any) -> None:
    known = {**builtins_for_scripts(), NUMBER: number}
    names: dict[str, Any] = {"__name__": SCRIPT, "__builtins__": known}
    exec(code, names)
    entries = [name for name in _ENTRIES if name in names]
    if not entries:
        raise ProgramFailed("script must define a compose or operate function")
    if len(entries) > 1:
        raise ProgramFailed("script must define only one function: compose or operate")
    running = names[entries[0]](request, answer)
    if iscoroutine(running):
        from crossply.functions.builtin.python.quiet_loop import finish

        finish(running)
