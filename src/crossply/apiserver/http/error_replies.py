"""Any exception as a Status: what the client can do about it, and nothing about other clients."""

from __future__ import annotations

import orjson
from aiohttp import web

from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.status_errors import NoSuchPath, StatusError, bad_request, internal_error
from crossply.apiserver.http.rate_limited_log import RateLimitedLog
from crossply.apiserver.storage import StorageError, StorageFull


def as_status(problem: Exception, log: RateLimitedLog, operation: str) -> StatusError:
    """The Status of a request that failed; `operation` names it in the log."""
    if isinstance(problem, StatusError):
        return problem
    if isinstance(problem, TimeoutError):
        return _timed_out()
    if isinstance(problem, StorageError):
        log.warn(str(problem))
        full = isinstance(problem, StorageFull)
        return StatusError(507, "InsufficientStorage", str(problem)) if full else internal_error(str(problem))
    if isinstance(problem, (ConnectionError, web.PayloadAccessError, web.RequestPayloadError)):
        return bad_request("the request ended before it was complete")
    if isinstance(problem, RecursionError):
        return bad_request("the request nests too deeply")
    log.internal_error(operation, problem)
    return internal_error(type(problem).__name__)


def error_reply(problem: StatusError) -> Reply:
    if isinstance(problem, NoSuchPath):
        return Reply(404, problem.text, "text/plain; charset=utf-8")
    headers = {}
    if problem.details["retryAfterSeconds"]:
        headers["Retry-After"] = str(problem.details["retryAfterSeconds"])
    return Reply(problem.status, _encoded(problem), headers=headers)


def _encoded(problem: StatusError) -> bytes:
    """A Status as JSON; text that is not Unicode, such as parts of a URL, is escaped."""
    try:
        return orjson.dumps(problem.body()) + b"\n"
    except TypeError:
        import json

        return json.dumps(problem.body()).encode("ascii") + b"\n"


def _timed_out() -> StatusError:
    message = "Timeout: request did not complete within the allotted timeout"
    return StatusError(504, "Timeout", message)
