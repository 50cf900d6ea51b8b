"""What is answered when a function goes wrong: one line that says where, for those who read its results."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import CodeType, TracebackType
from typing import Any

from crossply.errors import CrossplyError
from crossply.sdk.arrival import Arrival
from crossply.sdk.failures import Fatal
from crossply.sdk.request import Request
from crossply.sdk.response import Response
from crossply.sdk.sent import receive

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LONGEST = 2000


def blame(problem: BaseException, body: Any) -> str:
    """What went wrong and where: `main.py:12: KeyError: 'region'`; a Fatal says it all itself."""
    if isinstance(problem, Fatal):
        return str(problem)[:_LONGEST]
    place = _place(problem.__traceback__, _directory(body))
    return f"{place}{_said(problem)}"[:_LONGEST]


def failed(data: bytes, problem: BaseException, body: Any, log: Callable[[str], None] | None) -> bytes:
    """The answer to a request as bytes that failed: it wants what it was sent, and says what went wrong."""
    arrival = receive(data)
    return arrival.finish(failure(arrival, problem, body, log).draft())


def failure(
    arrival: Arrival, problem: BaseException, body: Any, log: Callable[[str], None] | None
) -> Response:
    """A response that wants what the steps before want, and says what went wrong; the log gets it all."""
    if log is not None:
        from traceback import format_exception

        log("".join(format_exception(problem)).rstrip())
    response = Response(Request(arrival), arrival)
    response.fatal(blame(problem, body))
    return response


def _said(problem: BaseException) -> str:
    if isinstance(problem, CrossplyError):
        return f"{problem}; {problem.hint}" if problem.hint else str(problem)
    if isinstance(problem, SystemExit):
        return f"the function called exit({problem.code!r})"
    text = str(problem)
    kind = type(problem).__name__
    return f"{kind}: {text}" if text else kind


def _directory(body: Any) -> str:
    code = getattr(body, "__code__", None)
    return os.path.dirname(code.co_filename) + os.sep if isinstance(code, CodeType) else ""


def _place(trace: TracebackType | None, directory: str) -> str:
    """The innermost line of the author's own files, else the innermost that is not ours."""
    own = other = ""
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        where = f"{os.path.basename(path)}:{trace.tb_lineno}: "
        if directory and path.startswith(directory) and "site-packages" not in path:
            own = where
        elif not path.startswith((_OURS, "<frozen")):
            other = where
        trace = trace.tb_next
    return own or other
