"""Where a script went wrong: the last line of its own on the way to an exception."""

from __future__ import annotations

from crossply.functions.builtin.confined.limits import MEMORY, SECONDS
from crossply.functions.builtin.confined.worker import OutOfTime

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
