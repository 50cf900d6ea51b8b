"""The request of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crossply.sdk.request_interface import IncomingRequest
from crossply.sdk.resources import Resource
from crossply.values import Object

if TYPE_CHECKING:
    from datetime import datetime

Clock = Callable[[], "datetime"]

CAPABILITIES = {
    "capabilities": 1,
    "required_resources": 2,
    "credentials": 3,
    "conditions": 4,
    "required_schemas": 5,
}
"""Capabilities of engines by name."""


WATCHED = "ops.crossplane.io/watched-resource"
"""The requirement with the watched resource of a WatchOperation."""


class Resources(Mapping[str, Resource]):
    """Resources by their names in the composition."""

    __slots__ = ("_incoming", "_opened", "_parts")

    def __init__(self, incoming: IncomingRequest, parts: Mapping[str, Any]) -> None:
        self._incoming = incoming
        self._parts = parts
        self._opened: dict[str, Resource] = {}

    def __getitem__(self, name: str) -> Resource:
        opened = self._opened.get(name)
        if opened is None:
            opened = self._opened[name] = Resource(self._incoming, self._parts[name])
        return opened

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def get(self, name: str, default: Any = None) -> Any:
        """The resource of a name, or the default."""
        return self[name] if name in self._parts else default

    def __repr__(self) -> str:
        return f"Resources({', '.join(self._parts)})"


class Request:
    """The observed state, the input of the step, and required resources.

    Each part is decoded on first access. Objects are copies: to desire something, change the response.
    """

    __slots__ = ("_clock", "_incoming", "_known", "_resources", "_xr")

    def __init__(self, incoming: IncomingRequest, clock: Clock | None = None) -> None:
        self._incoming = incoming
        self._clock = clock or _utc_now
        self._known: dict[str, Any] = {}
        self._xr: Resource | None = None
        self._resources: Resources | None = None

    def _cached(self, key: str, read: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = read()
        return self._known[key]

    @property
    def xr(self) -> Resource:
        """The observed composite resource."""
        if self._xr is None:
            self._xr = self._read_xr()
        return self._xr

    def _read_xr(self) -> Resource:
        part = self._observed.composite
        incoming = self._incoming
        return Resource(incoming, incoming.part({}) if part is None else part)

    @property
    def observed(self) -> Resources:
        """The observed composed resources; those that do not exist yet are missing."""
        if self._resources is None:
            self._resources = Resources(self._incoming, self._observed.resources)
        return self._resources

    @property
    def _observed(self) -> Any:
        return self._cached("observed", lambda: self._incoming.observed)

    @property
    def desired(self) -> Resources:
        """The desired composed resources of earlier steps."""
        resources: Resources = self._cached(
            "desired", lambda: Resources(self._incoming, self._incoming.desired.resources)
        )
        return resources

    @property
    def input(self) -> Object:
        """The input of this step; empty if the Composition has none."""
        value: Object = self._cached("input", lambda: self._incoming.input() or {})
        return value

    @property
    def context(self) -> Object:
        """The context of the pipeline."""
        value: Object = self._cached("context", lambda: self._incoming.context() or {})
        return value

    @property
    def credentials(self) -> Mapping[str, Mapping[str, bytes]]:
        """The data of the credentials of the step: `req.credentials["aws"]["key"]`."""
        value: Mapping[str, Mapping[str, bytes]] = self._cached("credentials", self._incoming.credentials)
        return value

    @property
    def required(self) -> Mapping[str, Sequence[Resource]]:
        """The required resources, by the name of the requirement."""
        value: Mapping[str, Sequence[Resource]] = self._cached("required", self._read_required)
        return value

    def _read_required(self) -> dict[str, list[Resource]]:
        incoming = self._incoming
        return {
            name: [Resource(incoming, part) for part in parts] for name, parts in incoming.required().items()
        }

    @property
    def watched(self) -> Resource | None:
        """The watched resource of a WatchOperation; None if there is none or it was deleted."""
        resources = self.required.get(WATCHED)
        return resources[0] if resources else None

    @property
    def schemas(self) -> Mapping[str, Object]:
        """The required OpenAPI schemas; empty for an unknown kind."""
        value: Mapping[str, Object] = self._cached("schemas", self._read_schemas)
        return value

    def _read_schemas(self) -> dict[str, Object]:
        return {name: schema or {} for name, schema in self._incoming.schemas().items()}

    @property
    def tag(self) -> str:
        """Identifies the request: equal requests have the same tag."""
        tag = self._incoming.tag
        return tag if isinstance(tag, str) else str(tag.tag)

    def can(self, capability: str) -> bool:
        """Whether the engine has a capability, such as `required_schemas`."""
        return CAPABILITIES[capability] in self._incoming.capabilities

    @property
    def now(self) -> datetime:
        """The time of this run in UTC. It does not change during a run, and tests can set it."""
        value: datetime = self._cached("now", self._clock)
        return value


def _utc_now() -> datetime:
    from datetime import UTC, datetime

    return datetime.now(UTC)
