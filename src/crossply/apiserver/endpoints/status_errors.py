"""Status errors: kube-apiserver's failures, each with its reason, details, causes and sentence.

Every error that a client may see is a `StatusError`, made by one of the constructors below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crossply.errors import CrossplyError
from crossply.values import Object

MOST_CAUSES = 100
LONGEST_MESSAGE = 64 << 10
"""How long a message may be, and all causes together: a small request can cause many errors."""
_LONGEST_CAUSE = 4 << 10


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause of a failure, and its field."""

    reason: str
    message: str
    field: str = ""


class StatusError(CrossplyError):
    """A request that is answered with a failure Status."""

    code = "CP-600"
    empty_details = False
    """Whether empty details are included, as in kube-apiserver's errors before any handler runs."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        *,
        kind: str = "",
        group: str = "",
        name: str = "",
        uid: str = "",
        causes: Sequence[Cause] = (),
        retry_after: int = 0,
    ) -> None:
        super().__init__(_cut(message, LONGEST_MESSAGE))
        self.status = status
        self.reason = reason
        self.warnings: list[str] = []
        """Warnings to send with the error."""
        self.list_metadata: Object = {}
        """List metadata in the Status, such as a continue token."""
        self.details = {
            "name": _cut(name, _LONGEST_CAUSE),
            "group": group,
            "kind": kind,
            "uid": uid,
            "causes": [_cause(cause) for cause in _most_of(causes)],
            "retryAfterSeconds": retry_after,
        }

    def body(self) -> Object:
        status: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.list_metadata,
            "status": "Failure",
            "message": str(self),
            "reason": self.reason,
        }
        details = {key: value for key, value in self.details.items() if value}
        if details or self.empty_details:
            status["details"] = details
        status["code"] = self.status
        if not self.reason:
            del status["reason"]
        return status


def _cut(text: str, longest: int) -> str:
    """A text, truncated if it is too long."""
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text) - longest} more characters)"


def _most_of(causes: Sequence[Cause]) -> list[Cause]:
    """The causes, truncated if they are many or long; the last one then says how many are left out."""
    shown: list[Cause] = []
    left = LONGEST_MESSAGE
    for cause in causes[:MOST_CAUSES]:
        cut = Cause(cause.reason, _cut(cause.message, _LONGEST_CAUSE), _cut(cause.field, _LONGEST_CAUSE))
        left -= len(cut.message) + len(cut.field)
        if left < 0:
            break
        shown.append(cut)
    if len(shown) < len(causes):
        shown.append(Cause("", f"and {len(causes) - len(shown)} more"))
    return shown


def _cause(cause: Cause) -> Object:
    fields: dict[str, Any] = {"reason": cause.reason, "message": cause.message, "field": cause.field}
    return {key: value for key, value in fields.items() if value}


def qualified(resource: str, group: str) -> str:
    """A resource as messages name it: `widgets.example.org`, or `configmaps` of the core group."""
    return f"{resource}.{group}" if group else resource


def not_found(resource: str, group: str, name: str) -> StatusError:
    message = f'{qualified(resource, group)} "{name}" not found'
    return StatusError(404, "NotFound", message, kind=resource, group=group, name=name)


class NoSuchPath(StatusError):
    """The URL is not served. kube-apiserver answers with a line of text, not with a Status."""

    code = "CP-601"
    text = b"404 page not found\n"


def no_such_path() -> NoSuchPath:
    return NoSuchPath(404, "NotFound", "the server could not find the requested resource")


def already_exists(resource: str, group: str, name: str) -> StatusError:
    message = f'{qualified(resource, group)} "{name}" already exists'
    return StatusError(409, "AlreadyExists", message, kind=resource, group=group, name=name)


def conflict(resource: str, group: str, name: str, why: str) -> StatusError:
    message = f'Operation cannot be fulfilled on {qualified(resource, group)} "{name}": {why}'
    return StatusError(409, "Conflict", message, kind=resource, group=group, name=name)


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def invalid(kind: str, group: str, name: str, causes: Sequence[Cause]) -> StatusError:
    message = f'{qualified(kind, group)} "{name}" is invalid: {_listed(causes)}'
    return StatusError(422, "Invalid", message, kind=kind, group=group, name=name, causes=causes)


def _listed(causes: Sequence[Cause]) -> str:
    """The causes as a message lists them, without duplicates."""
    texts = dict.fromkeys(
        f"{cause.field}: {cause.message}" if cause.field else cause.message for cause in _most_of(causes)
    )
    return f"[{', '.join(texts)}]" if len(texts) > 1 else "".join(texts)


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def unauthorized() -> StatusError:
    return StatusError(401, "Unauthorized", "Unauthorized")


def forbidden(resource: str, group: str, name: str, why: str) -> StatusError:
    named = f' "{name}"' if name else ""
    message = f"{qualified(resource, group)}{named} is forbidden: {why}" if resource else f"forbidden: {why}"
    return StatusError(403, "Forbidden", message, kind=resource, group=group, name=name)


class Unhandled(StatusError):
    """A request for a built-in kind that no handler serves."""

    code = "CP-602"
    empty_details = True


def no_such_resource() -> Unhandled:
    """A served group has no such resource or version."""
    return Unhandled(404, "NotFound", "the server could not find the requested resource")


def no_such_method() -> Unhandled:
    """The path exists, but not with this method."""
    message = "the server does not allow this method on the requested resource"
    return Unhandled(405, "MethodNotAllowed", message)


def not_available(offers: Sequence[str]) -> Unhandled:
    """The client accepts no supported form of a built-in kind."""
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(offers)}"
    return Unhandled(406, "NotAcceptable", message)


def unsupported_patch() -> Unhandled:
    """The patch type is not supported for built-in kinds."""
    return Unhandled(415, "UnsupportedMediaType", "415: Unsupported Media Type")


def rejected_patch() -> Unhandled:
    """The operations of a JSON patch cannot be applied."""
    message = "the server rejected our request due to an error in our request"
    return Unhandled(422, "Invalid", message)


def no_such_kind(kind: str, api_version: str) -> str:
    """The sentence for a kind that no built-in version has."""
    return f'no kind "{kind}" is registered for version "{api_version}" in scheme "pkg/runtime/scheme.go:111"'


def method_not_supported(resource: str, group: str, action: str) -> StatusError:
    """The resource does not support this verb."""
    message = f"{action} is not supported on resources of kind {qualified(resource, group)!r}"
    return StatusError(405, "MethodNotAllowed", message.replace("'", '"'), kind=resource, group=group)


def not_acceptable(offers: Sequence[str]) -> StatusError:
    message = f"only the following media types are accepted: {', '.join(offers)}"
    return StatusError(406, "NotAcceptable", message)


def unsupported_media_type(offers: Sequence[str]) -> StatusError:
    message = "the body of the request was in an unknown format - accepted media types include: "
    message += ", ".join(offers)
    return StatusError(415, "UnsupportedMediaType", message)


def too_large(limit: int) -> StatusError:
    return request_too_large(f"limit is {limit}")


def request_too_large(why: str) -> StatusError:
    return StatusError(413, "RequestEntityTooLarge", f"Request entity too large: {why}")


def future_version(revision: int, current: int) -> StatusError:
    """A resourceVersion was requested that does not exist yet."""
    return StatusError(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {revision}, current: {current}",
        causes=[Cause("ResourceVersionTooLarge", "Too large resource version")],
        retry_after=1,
    )


def bad_options(kind: str, causes: Sequence[Cause]) -> StatusError:
    """`kind` is that of the options, such as PatchOptions."""
    return invalid(kind, "meta.k8s.io", "", causes)


def bad_list_options(*causes: Cause) -> StatusError:
    return bad_options("ListOptions", causes)


def expired(message: str) -> StatusError:
    """The requested resourceVersion is compacted."""
    return StatusError(410, "Expired", message)


def too_many_requests(
    message: str = "Too many requests, please try again later.", retry_after: int = 1
) -> StatusError:
    return StatusError(429, "TooManyRequests", message, retry_after=retry_after)


def internal_error(message: str) -> StatusError:
    return StatusError(
        500, "InternalError", f"Internal error occurred: {message}", causes=[Cause("", message)]
    )
