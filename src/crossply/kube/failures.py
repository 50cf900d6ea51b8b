"""What can go wrong between us and an API server, as a tree.

The server explains a refusal in a Status object; its sentence is kept as the message. Which class a refusal
becomes decides what a caller does next: try again (Busy, Unreachable), list again (Expired), or tell the user
(Invalid, Forbidden).

A write conflict is no error that users see: the reconciler reads the object again and retries. So
`Conflict` stands outside of the tree, and `except CrossplyError` does not catch it.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import orjson

from crossply.errors import CrossplyError
from crossply.values import Object


class Cause(NamedTuple):
    """One of the reasons for a refusal."""

    reason: str
    message: str
    field: str


class KubeError(CrossplyError):
    """The Kubernetes API server refused a request, or the request could not be sent."""

    code = "CP-700"

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        reason: str = "",
        causes: tuple[Cause, ...] = (),
        retry_after: float | None = None,
        place: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(message, place=place, hint=hint)
        self.status = status
        self.reason = reason
        self.causes = causes
        self.retry_after = retry_after


class Conflict(Exception):
    """Another client changed the object in the meantime, or owns a field that was to be applied.

    The caller reads the object again and decides again. A command that cannot do that converts it into an
    error of its own.
    """

    def __init__(
        self, message: str, *, status: int = 409, reason: str = "Conflict", causes: tuple[Cause, ...] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.causes = causes


class AlreadyExists(Conflict):
    """An object of this name exists already."""


class Unreachable(KubeError):
    """The API server could not be reached, or the connection broke before it answered.

    Whether a request that changes something was carried out is then not known.
    """

    code = "CP-701"
    hint = "check that the API server runs and that the kubeconfig names its address"
    never_sent = False
    """Whether no connection was made, so that the server cannot have done anything."""


class NotFound(KubeError):
    """The object does not exist."""

    code = "CP-702"


class NotServed(NotFound):
    """The API server does not serve this kind (yet), so it is unknown whether the object exists."""

    code = "CP-703"
    hint = "check that the kind's CustomResourceDefinition is installed and established"


class Denied(KubeError):
    """An admission rule refuses the request until something else changes."""

    code = "CP-712"
    hint = "the message says what blocks the request; what is in use can be deleted after its Usage"


class Invalid(KubeError):
    """The API server does not accept the object; the causes name the fields."""

    code = "CP-706"


class Forbidden(KubeError):
    """The user that Crossply acts as may not do this, or an admission rule refused it."""

    code = "CP-707"
    hint = "check the roles that are bound to the user or service account named in the message"


class Unauthorized(KubeError):
    """The API server does not accept the credentials."""

    code = "CP-708"
    hint = "check the token or certificate of the kubeconfig's user; it may have expired"


class Expired(KubeError):
    """The requested resource version is too old: the changes since are no longer known."""

    code = "CP-709"


class Busy(KubeError):
    """The API server asks to retry later: it is overloaded, starting, or timed out."""

    code = "CP-710"


class ServerFull(KubeError):
    """The disk of the API server is full: nothing was written. Objects can still be read and deleted."""

    code = "CP-713"
    hint = "delete objects that are not needed, or make space on the disk of the API server"


_BY_STATUS: dict[int, type[KubeError]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    410: Expired,
    413: Invalid,
    415: Invalid,
    422: Invalid,
    429: Busy,
    502: Busy,
    503: Busy,
    504: Busy,
    507: ServerFull,
}


def failure(status: int, body: bytes, retry_after: str = "") -> KubeError | Conflict:
    """The error for an answer of 400 or more."""
    refused = _status_of(body)
    if refused is None:
        return _plain_failure(status, body, retry_after)
    return refusal(refused, status, retry_after)


def refusal(refused: Object, status: int = 0, retry_after: str = "") -> KubeError | Conflict:
    """The error for a Status object."""
    status = status or int(refused.get("code") or 0)
    reason = str(refused.get("reason") or "")
    details = refused.get("details") or {}
    message = str(refused.get("message") or reason or f"the API server answered with status {status}")
    causes = tuple(_cause(cause) for cause in details.get("causes") or ())
    if reason == "AlreadyExists":
        return AlreadyExists(message, status=status, reason=reason, causes=causes)
    if status == 409 and reason in ("Conflict", ""):
        return Conflict(message, status=status, reason=reason, causes=causes)
    return _class_of(status, details)(
        message,
        status=status,
        reason=reason,
        causes=causes,
        retry_after=_seconds(retry_after or details.get("retryAfterSeconds")),
    )


def _class_of(status: int, details: Object) -> type[KubeError]:
    # Webhooks may refuse with this status and a sentence as the reason. There was no other write, so to retry
    # at once would never end.
    if status == 409:
        return Denied
    # A missing object is named in the details; where the whole kind is missing, nothing is.
    if status == 404 and not details.get("name"):
        return NotServed
    return _BY_STATUS.get(status, KubeError)


def _plain_failure(status: int, body: bytes, retry_after: str) -> KubeError | Conflict:
    text = body[:300].decode(errors="replace").strip()
    message = f"the API server answered with status {status}" + (f": {text}" if text else "")
    if status == 409:
        return Conflict(message, reason="")
    kind = NotServed if status == 404 else _BY_STATUS.get(status, KubeError)
    return kind(message, status=status, retry_after=_seconds(retry_after))


def _status_of(body: bytes) -> Object | None:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) and value.get("kind") == "Status" else None


def _cause(cause: Object) -> Cause:
    return Cause(str(cause.get("reason", "")), str(cause.get("message", "")), str(cause.get("field", "")))


def _seconds(value: Any) -> float | None:
    try:
        return max(float(value), 0.0) if value else None
    except (TypeError, ValueError):
        return None


HIDDEN = "(hidden)"

_INVALID = re.compile(r'((?:Invalid|Unsupported|Duplicate) value): (?:"(?:[^"\\]|\\.)*"|[^:\n]*)')
# The value may hold anything, also what looks like the end of it: nothing after it is kept.
_GOT = re.compile(r"(expected [a-z]+, got) .*", re.DOTALL)


def without_values(problem: KubeError | Conflict) -> KubeError | Conflict:
    """The same refusal, naming fields and rules only."""
    message = _hidden(str(problem))
    causes = tuple(cause._replace(message=_hidden(cause.message)) for cause in problem.causes)
    if isinstance(problem, Conflict):
        return type(problem)(message, status=problem.status, reason=problem.reason, causes=causes)
    hidden = problem.replace(message=message)
    hidden.causes = causes
    return hidden


def _hidden(text: str) -> str:
    return _GOT.sub(rf"\1 {HIDDEN}", _INVALID.sub(rf"\1: {HIDDEN}", text))
