"""A request as it arrived: the seam between the two ways that a function is called.

`sent` is a request that came as bytes, `told` one of the engine in this process. Both know how to open a
resource, which gives the function an object of its own with whole numbers as integers, and how to freeze one
that the function made. What a function never looks at is never opened, and goes on as it came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from crossply.compose.messages import Response as Message
from crossply.values import Object

Written = TypeVar("Written", covariant=True)


class Piece(NamedTuple):
    """A resource between the function and the wire."""

    frozen: Any
    """The object, in the form of its arrival."""
    connection: Mapping[str, bytes] = {}
    ready: int = 0


class Condition(NamedTuple):
    """A status condition of a resource. One that is not there has the status Unknown."""

    type: str
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""

    @classmethod
    def of(cls, type: str, fields: Object | None) -> Condition:  # noqa: A002 - the API's own word
        """The condition that an object has; Unknown where it has none."""
        if fields is None:
            return cls(type)
        names = ("reason", "message", "lastTransitionTime")
        status = str(fields.get("status") or "Unknown")
        return cls(type, status, *[str(fields.get(name) or "") for name in names])

    @property
    def is_true(self) -> bool:
        """Tell whether its status is True."""
        return self.status == "True"


def conditions_of(listed: Any) -> Mapping[str, Object]:
    """The conditions in an object's status by their types; the first of a type counts."""
    found = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return {str(each.get("type")): each for each in reversed(found)}


class Parts(NamedTuple):
    """A composite resource and its composed resources: as they came, or a `Piece` each."""

    composite: Any = None
    resources: Mapping[str, Any] = {}


class Draft(NamedTuple):
    """A response that is ready to be written."""

    desired: Parts
    context: Object | None
    """Nothing where the function did not touch it: then it goes on as it came."""
    rest: Message


class Arrival(Protocol):
    """A request that nobody has looked at yet."""

    @property
    def tag(self) -> Any:
        """What identifies the request."""

    @property
    def capabilities(self) -> tuple[int, ...]:
        """What the engine says it can do."""

    @property
    def observed(self) -> Parts:
        """What there is."""

    @property
    def desired(self) -> Parts:
        """What the steps before want."""

    def piece(self, part: Any) -> Piece:
        """A resource of the parts."""

    def open(self, frozen: Any) -> Object:
        """An object of the function's own."""

    def conditions(self, part: Any) -> Mapping[str, Object]:
        """The status conditions of a resource by their types, without opening it."""

    def with_ready(self, part: Any, ready: int) -> Any:
        """The same resource, ready or not."""

    def part(self, fields: Object) -> Any:
        """A resource of its object as it is now; raises StructError where it cannot be sent."""

    def input(self) -> Object | None:
        """The input of the step."""

    def context(self) -> Object | None:
        """What the steps before told each other."""

    def credentials(self) -> Mapping[str, Mapping[str, bytes]]:
        """The data of the step's credentials, by their names."""

    def required(self) -> Mapping[str, Sequence[Any]]:
        """The resources that were asked for, by the names of the requirements."""

    def schemas(self) -> Mapping[str, Object | None]:
        """The schemas that were asked for; nothing where there is none."""


class Finishing(Arrival, Protocol[Written]):
    """One that can be answered, in the form that it came in."""

    def finish(self, draft: Draft) -> Written:
        """The answer."""
