"""The response of a function that fails: a fatal result of one line with the location."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import CodeType, TracebackType
from typing import Any

from crossply.errors import CrossplyError
from crossply.sdk.encoded_request import receive
from crossply.sdk.failures import Fatal
from crossply.sdk.request import Request
from crossply.sdk.request_interface import IncomingRequest
from crossply.sdk.response import Response

_PACKAGE_DIRECTORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MAX_LENGTH = 2000


def error_text(problem: BaseException, body: Any) -> str:
    """The location and the error: `main.py:12: KeyError: 'region'`; only the message of a Fatal."""
    if isinstance(problem, Fatal):
        return str(problem)[:_MAX_LENGTH]
    place = _location(problem.__traceback__, _directory(body))
    return f"{place}{_exception_text(problem)}"[:_MAX_LENGTH]


def encoded_error_response(
    data: bytes, problem: BaseException, body: Any, log: Callable[[str], None] | None
) -> bytes:
    """The encoded response to an encoded request that failed."""
    incoming = receive(data)
    return incoming.finish(error_response(incoming, problem, body, log).draft())


def error_response(
    incoming: IncomingRequest, problem: BaseException, body: Any, log: Callable[[str], None] | None
) -> Response:
    """A response with the desired state of the request and a fatal result; the log gets the traceback."""
    if log is not None:
        from traceback import format_exception

        log("".join(format_exception(problem)).rstrip())
    response = Response(Request(incoming), incoming)
    response.fatal(error_text(problem, body))
    return response


def _exception_text(problem: BaseException) -> str:
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


def _location(trace: TracebackType | None, directory: str) -> str:
    """The innermost line in the author's files, else the innermost outside of this package."""
    own = other = ""
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        location = f"{os.path.basename(path)}:{trace.tb_lineno}: "
        if directory and path.startswith(directory) and "site-packages" not in path:
            own = location
        elif not path.startswith((_PACKAGE_DIRECTORY, "<frozen")):
            other = location
        trace = trace.tb_next
    return own or other
