"""Python as a language of sandboxed workers. A program is the source of a script.

A script defines `compose(req, rsp)` or `operate(req, rsp)`, which changes the response. It is compiled once
and executed again for every request, as in the published function: its globals do not survive a request.
"""

from __future__ import annotations

import sys
from importlib import import_module
from inspect import iscoroutine
from types import CodeType
from typing import Any

from crossply.functions.builtin.python.script_environment import (
    ScriptImports,
    audit_hook,
    import_mentioned_modules,
    import_sdk,
    script_builtins,
)
from crossply.functions.builtin.sandbox.limit_constants import MEMORY, SECONDS
from crossply.functions.builtin.sandbox.worker import Answer, ProgramFailed, TimeLimitExceeded
from crossply.sdk.boolean_enum_assignments import TO_NUMBER, bool_to_number, parse_script

_ENTRY_POINTS = ("compose", "operate")


def prepare(program: bytes) -> None:
    if not program:
        import_sdk()
        return
    import_mentioned_modules(program.decode())
    if b"async" in program:
        from crossply.functions.builtin.python import event_loop  # noqa: F401 - it cannot be imported later


def load(program: bytes) -> Answer:
    try:
        code = compile(parse_script(program.decode(), SCRIPT), SCRIPT, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise ProgramFailed(error_message(error)) from None
    except (MemoryError, RecursionError):
        raise ProgramFailed(f"{SCRIPT}: is too large, or nests too deep") from None
    sys.addaudithook(audit_hook)
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
    except BaseException as error:  # noqa: BLE001 - a script may raise anything and must not end the worker
        raise ProgramFailed(error_message(error)) from None
    return reply


def _call(code: CodeType, request: Any, answer: Any) -> None:
    builtin_names = {**script_builtins(ScriptImports()), TO_NUMBER: bool_to_number}
    names: dict[str, Any] = {"__name__": SCRIPT, "__builtins__": builtin_names}
    exec(code, names)
    entries = [name for name in _ENTRY_POINTS if name in names]
    if not entries:
        raise ProgramFailed("script must define a compose or operate function")
    if len(entries) > 1:
        raise ProgramFailed("script must define only one function: compose or operate")
    running = names[entries[0]](request, answer)
    if iscoroutine(running):
        from crossply.functions.builtin.python.event_loop import run_coroutine

        run_coroutine(running)


SCRIPT = "script"
"""The file name of scripts in tracebacks."""


def error_message(error: BaseException) -> str:
    """The error with the last line of the script that led to it."""
    return f"{_location(error)}: {_error_text(error)}"


def _location(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename == SCRIPT:
        return f"{SCRIPT}:{error.lineno}"
    place = SCRIPT
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == SCRIPT:
            place = f"{SCRIPT}:{trace.tb_lineno}, in {code.co_name}"
        trace = trace.tb_next
    return place


def _error_text(error: BaseException) -> str:
    if isinstance(error, TimeLimitExceeded):
        return f"takes longer than {SECONDS:g} seconds"
    if isinstance(error, MemoryError):
        return f"takes more than {MEMORY >> 20} MiB of memory"
    name = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{name}: {error.msg}"
    try:
        return f"{name}: {error}"
    except Exception:  # noqa: BLE001 - the script may define the exception
        return name
