"""What a function is asked: everything it may look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crossply.sdk.arrival import Arrival
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
"""What an engine may say that it can do, by name."""


WATCHED = "ops.crossplane.io/watched-resource"
"""The requirement that holds the resource which a WatchOperation is about."""


class Resources(Mapping[str, Resource]):
    """Resources by the names they have in the composition."""

    __slots__ = ("_arrival", "_opened", "_parts")

    def __init__(self, arrival: Arrival, parts: Mapping[str, Any]) -> None:
        self._arrival = arrival
        self._parts = parts
        self._opened: dict[str, Resource] = {}

    def __getitem__(self, name: str) -> Resource:
        opened = self._opened.get(name)
        if opened is None:
            opened = self._opened[name] = Resource(self._arrival, self._parts[name])
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
    """A request: the observed state, the input of the step, and what was asked for.

    Each part is read when it is first looked at. What it gives is the function's own: to want something,
    change the response.
    """

    __slots__ = ("_arrival", "_clock", "_known", "_resources", "_xr")

    def __init__(self, arrival: Arrival, clock: Clock | None = None) -> None:
        self._arrival = arrival
        self._clock = clock or _utc_now
        self._known: dict[str, Any] = {}
        self._xr: Resource | None = None
        self._resources: Resources | None = None

    def _once(self, what: str, read: Callable[[], Any]) -> Any:
        if what not in self._known:
            self._known[what] = read()
        return self._known[what]

    @property
    def xr(self) -> Resource:
        """The composite resource as it is."""
        if self._xr is None:
            self._xr = self._read_xr()
        return self._xr

    def _read_xr(self) -> Resource:
        part = self._observed.composite
        arrival = self._arrival
        return Resource(arrival, arrival.part({}) if part is None else part)

    @property
    def observed(self) -> Resources:
        """The composed resources as they are; one that does not exist yet is not in it."""
        if self._resources is None:
            self._resources = Resources(self._arrival, self._observed.resources)
        return self._resources

    @property
    def _observed(self) -> Any:
        return self._once("observed", lambda: self._arrival.observed)

    @property
    def desired(self) -> Resources:
        """The composed resources that the steps before want."""
        found: Resources = self._once(
            "desired", lambda: Resources(self._arrival, self._arrival.desired.resources)
        )
        return found

    @property
    def input(self) -> Object:
        """The input that the Composition gives to this step; empty where it gives none."""
        found: Object = self._once("input", lambda: self._arrival.input() or {})
        return found

    @property
    def context(self) -> Object:
        """What the steps before told each other."""
        found: Object = self._once("context", lambda: self._arrival.context() or {})
        return found

    @property
    def credentials(self) -> Mapping[str, Mapping[str, bytes]]:
        """The data of the step's credentials: `req.credentials["aws"]["key"]`."""
        found: Mapping[str, Mapping[str, bytes]] = self._once("credentials", self._arrival.credentials)
        return found

    @property
    def required(self) -> Mapping[str, Sequence[Resource]]:
        """The resources that were asked for, by the names of the requirements."""
        found: Mapping[str, Sequence[Resource]] = self._once("required", self._read_required)
        return found

    def _read_required(self) -> dict[str, list[Resource]]:
        arrival = self._arrival
        return {
            name: [Resource(arrival, part) for part in parts] for name, parts in arrival.required().items()
        }

    @property
    def watched(self) -> Resource | None:
        """The resource whose change a WatchOperation runs for, where there is one and it is not gone."""
        found = self.required.get(WATCHED)
        return found[0] if found else None

    @property
    def schemas(self) -> Mapping[str, Object]:
        """The OpenAPI schemas that were asked for; empty for a kind that there is not."""
        found: Mapping[str, Object] = self._once("schemas", self._read_schemas)
        return found

    def _read_schemas(self) -> dict[str, Object]:
        return {name: schema or {} for name, schema in self._arrival.schemas().items()}

    @property
    def tag(self) -> str:
        """What identifies this request: the same request has the same tag."""
        tag = self._arrival.tag
        return tag if isinstance(tag, str) else str(tag.tag)

    def can(self, capability: str) -> bool:
        """Tell whether the engine says that it has a capability, such as `required_schemas`."""
        return CAPABILITIES[capability] in self._arrival.capabilities

    @property
    def now(self) -> datetime:
        """The time of this run, in UTC: the same however often it is asked for, and given in tests."""
        found: datetime = self._once("now", self._clock)
        return found


def _utc_now() -> datetime:
    from datetime import UTC, datetime

    return datetime.now(UTC)
