"""The desired resources of a response: what the steps before want, and what this function adds.

Everything that arrived goes on unless it is deleted by its name. An assignment takes the resource as it is at
that moment, so that one dict can be used for several resources, and a value that cannot be sent is refused
at the line that puts it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, NoReturn

from crossply.sdk.arrival import Arrival, Parts
from crossply.sdk.failures import ValueRefused
from crossply.sdk.plain import fields_of
from crossply.sdk.resources import Desired, part_of


class DesiredResources(MutableMapping[str, Any]):
    """The desired composed resources by name.

    `rsp.desired["bucket"] = {...}` sets one, `rsp.desired["bucket"]` is one that can be changed.
    """

    __slots__ = ("_arrival", "_parts", "_taken")

    def __init__(self, arrival: Arrival, arrived: Mapping[str, Any]) -> None:
        self._arrival = arrival
        self._parts = dict(arrived)
        self._taken: dict[str, Desired] = {}

    def __getitem__(self, name: str) -> Desired:
        taken = self._taken.get(name)
        if taken is None:
            taken = self._taken[name] = Desired(self._arrival, self._parts[name])
        return taken

    def __setitem__(self, name: str, resource: Any) -> None:
        if not isinstance(name, str):
            raise ValueRefused(f"the name of a resource is a string, not {name!r}")
        self._parts[name] = self._part(name, resource)
        if name in self._taken:
            del self._taken[name]

    def _part(self, name: str, resource: Any) -> Any:
        try:
            if type(resource) is dict:
                return part_of(self._arrival, resource)
            if isinstance(resource, Desired):
                return resource.frozen()
            return part_of(self._arrival, fields_of(resource))
        except ValueRefused as problem:
            raise problem.within(f'desired resource "{name}"') from None

    def __delitem__(self, name: str) -> None:
        del self._parts[name]
        self._taken.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __repr__(self) -> str:
        return f"DesiredResources({', '.join(self._parts)})"

    def add(
        self,
        name: str,
        resource: Any,
        *,
        ready: bool | None = None,
        connection: Mapping[str, bytes | str] | None = None,
    ) -> Desired:
        """Set a resource, say whether it is ready, and have it."""
        self[name] = resource
        added = self[name]
        added.ready = ready
        added.connection.update(connection or {})
        return added

    def merge(self, name: str, fields: Mapping[str, Any]) -> Desired:
        """Lay fields over a resource, which need not be there yet."""
        if name not in self:
            return self.add(name, fields)
        self[name].merge(fields)
        return self[name]

    def clear(self) -> NoReturn:
        """Refused: it would drop what the steps before want."""
        raise TypeError("the steps before want these resources: delete those you mean by name")

    def popitem(self) -> NoReturn:
        """Refused, as `clear` is."""
        self.clear()

    def parts(self) -> dict[str, Any]:
        """Everything as it is sent on: what nobody took as it came."""
        parts = dict(self._parts)
        for name, taken in self._taken.items():
            try:
                parts[name] = taken.frozen()
            except ValueRefused as problem:
                raise problem.within(f'desired resource "{name}"') from None
        return parts


class DesiredState:
    """The desired composite resource and the desired composed ones."""

    __slots__ = ("_arrival", "_arrived", "_xr", "resources")

    def __init__(self, arrival: Arrival) -> None:
        self._arrival = arrival
        self._arrived, resources = arrival.desired
        self.resources = DesiredResources(arrival, resources)
        self._xr: Desired | None = None

    @property
    def xr(self) -> Desired:
        """The desired composite resource."""
        if self._xr is None:
            arrival, arrived = self._arrival, self._arrived
            self._xr = Desired(arrival, arrival.part({}) if arrived is None else arrived)
        return self._xr

    def parts(self) -> Parts:
        """All of it as it is sent on."""
        if self._xr is None:
            return Parts(self._arrived, self.resources.parts())
        try:
            composite = self._xr.frozen()
        except ValueRefused as problem:
            raise problem.within("desired composite resource") from None
        if self._arrived is None and not self._xr:
            piece = self._arrival.piece(composite)
            composite = composite if piece.connection or piece.ready else None
        return Parts(composite, self.resources.parts())
