"""Python as a language of confined workers. A program is the source of a script.

A script defines `compose(req, rsp)` or `operate(req, rsp)`, which changes the response. It is compiled once
and executed anew for every request, as the published function does: what it leaves in its names is forgotten.
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from inspect import iscoroutine
from types import CodeType
from typing import Any

from crossply.functions.builtin.python.script_environment import (
    builtins_for_scripts,
    import_for,
    import_the_sdk,
    refuse,
)
from crossply.functions.builtin.sandbox.limits import MEMORY, SECONDS
from crossply.functions.builtin.sandbox.worker import Answer, OutOfTime, ProgramFailed

_ENTRIES = ("compose", "operate")


def prepare(program: bytes) -> None:
    """Import what the script mentions."""
    if not program:
        import_the_sdk()
        return
    import_for(program.decode())
    if b"async" in program:
        from crossply.functions.builtin.python import event_loop  # noqa: F401 - it is needed later


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
        from crossply.functions.builtin.python.event_loop import finish

        finish(running)


SCRIPT = "script"
"""What tracebacks call a script."""


def blamed(problem: BaseException) -> str:
    """What went wrong, with the place."""
    return f"{_place(problem)}: {_told(problem)}"


def _place(problem: BaseException) -> str:
    if isinstance(problem, SyntaxError) and problem.filename == SCRIPT:
        return f"{SCRIPT}:{problem.lineno}"
    place = SCRIPT
    trace = problem.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == SCRIPT:
            place = f"{SCRIPT}:{trace.tb_lineno}, in {code.co_name}"
        trace = trace.tb_next
    return place


def _told(problem: BaseException) -> str:
    if isinstance(problem, OutOfTime):
        return f"takes longer than {SECONDS:g} seconds"
    if isinstance(problem, MemoryError):
        return f"takes more than {MEMORY >> 20} MiB of memory"
    name = type(problem).__name__
    if isinstance(problem, SyntaxError):
        return f"{name}: {problem.msg}"
    try:
        return f"{name}: {problem}"
    except Exception:  # noqa: BLE001 - whatever an exception of the script does when it is printed
        return name


NUMBER = "__number__"
"""What scripts call the function by which a boolean becomes a number."""

_ENUMS = ("ready", "severity", "status", "target")


def parsed(source: str, name: str) -> ast.Module:
    """A script with every assignment to an enum's field through `NUMBER`."""
    tree = ast.parse(source, name)
    _Assignments().visit(tree)
    return ast.fix_missing_locations(tree)


def number(value: Any) -> Any:
    """A boolean as a number; everything else as it is."""
    return int(value) if isinstance(value, bool) else value


class _Assignments(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Rewrite `a.ready = b` only: one target, one attribute."""
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Attribute) and target.attr in _ENUMS:
            called = ast.Call(ast.Name(NUMBER, ast.Load()), [node.value], [])
            return ast.copy_location(ast.Assign([target], ast.copy_location(called, node.value)), node)
        return node
