"""The interface of a request as it arrived, which has two implementations.

`encoded_request` is a request as bytes, `in_process_request` one of the engine in this process. Both can
open a resource, which gives the function an object of its own with whole numbers as integers, and encode a
resource that the function made. A resource that a function never reads is never decoded and is passed on
unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from crossply.compose.function_messages import Response as Message
from crossply.values import Object

Written = TypeVar("Written", covariant=True)


class ResourcePart(NamedTuple):
    """A resource in the form of the request: encoded or plain."""

    frozen: Any
    """The object in the form in which it arrived."""
    connection: Mapping[str, bytes] = {}
    ready: int = 0


class Condition(NamedTuple):
    """A status condition of a resource. A missing one has the status Unknown."""

    type: str
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""

    @classmethod
    def of(cls, type: str, fields: Object | None) -> Condition:  # noqa: A002 - the API's own word
        """The condition with these fields; Unknown without fields."""
        if fields is None:
            return cls(type)
        names = ("reason", "message", "lastTransitionTime")
        status = str(fields.get("status") or "Unknown")
        return cls(type, status, *[str(fields.get(name) or "") for name in names])

    @property
    def is_true(self) -> bool:
        return self.status == "True"


def conditions_of(listed: Any) -> Mapping[str, Object]:
    """Conditions by type; the first of a type wins."""
    conditions = (
        [condition for condition in listed if isinstance(condition, dict)] if isinstance(listed, list) else []
    )
    return {str(condition.get("type")): condition for condition in reversed(conditions)}


class StateParts(NamedTuple):
    """A composite resource and its composed resources: as they arrived, or as `ResourcePart`."""

    composite: Any = None
    resources: Mapping[str, Any] = {}


class ResponseDraft(NamedTuple):
    """A response that is ready to be encoded."""

    desired: StateParts
    context: Object | None
    """None when the function did not change it: it is passed on unchanged."""
    rest: Message


class IncomingRequest(Protocol):
    """A request that is not decoded yet."""

    @property
    def tag(self) -> Any:
        """The tag of the request."""

    @property
    def capabilities(self) -> tuple[int, ...]:
        """The capabilities of the engine."""

    @property
    def observed(self) -> StateParts:
        """The observed state."""

    @property
    def desired(self) -> StateParts:
        """The desired state of earlier steps."""

    def unpack(self, part: Any) -> ResourcePart:
        """Unpack a resource of the state."""

    def open(self, frozen: Any) -> Object:
        """Decode an object; the caller owns it."""

    def conditions(self, part: Any) -> Mapping[str, Object]:
        """The status conditions of a resource by type, without decoding all of it."""

    def with_ready(self, part: Any, ready: int) -> Any:
        """The resource with another readiness."""

    def part(self, fields: Object) -> Any:
        """Encode an object as a resource; raises StructError when it cannot be sent."""

    def input(self) -> Object | None:
        """The input of the step."""

    def context(self) -> Object | None:
        """The context of the pipeline."""

    def credentials(self) -> Mapping[str, Mapping[str, bytes]]:
        """The data of the credentials of the step, by name."""

    def required(self) -> Mapping[str, Sequence[Any]]:
        """The required resources, by the name of the requirement."""

    def schemas(self) -> Mapping[str, Object | None]:
        """The required schemas; None for a kind without one."""


class AnswerableRequest(IncomingRequest, Protocol[Written]):
    """A request that encodes its response in its own form."""

    def finish(self, draft: ResponseDraft) -> Written:
        """Encode the response."""
