"""A request as plain data: prepared here, counted and sent by the transport."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Actor:
    """The user to impersonate."""

    user: str
    groups: tuple[str, ...] = ()

    def headers(self) -> list[tuple[str, str]]:
        """The headers that say so."""
        return [("Impersonate-User", self.user), *(("Impersonate-Group", group) for group in self.groups)]


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask the server."""

    method: str
    path: str
    verb: str
    """The verb that it is counted under."""
    resource: str
    """The resource that it is counted under."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = JSON
    accept: str = JSON
    actor: Actor | None = None
    headers: tuple[tuple[str, str], ...] = ()
    """More headers than those that every request has."""
    ahead: bool = False
    """Whether it does not wait for its turn among all others."""

    @property
    def target(self) -> str:
        """The path and the query."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    def within(self, seconds: float) -> Request:
        """The same request, which the server drops if it takes longer."""
        return replace(self, query={**self.query, "timeout": f"{seconds:.3f}s"})

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return self.method != "GET"

    @property
    def repeatable(self) -> bool:
        """Whether sending it twice does what sending it once does.

        An update carries the version it is based on and a deletion names its object: a second one is refused,
        or finds nothing. A create is not repeated: it would fail because its own object exists already.
        """
        if self.method == "PATCH":
            return self.content_type in (APPLY_PATCH, MERGE_PATCH)
        return self.method != "POST"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    data: bytes
