"""The desired resources of a response: those of earlier steps, and what this function adds.

Resources of earlier steps are passed on unless they are deleted by name. An assignment encodes the resource
at once, so one dict can be used for several resources, and a value that cannot be sent is refused at the
line that assigns it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, NoReturn

from crossply.sdk.author_value_conversion import fields_of
from crossply.sdk.failures import ValueRefused
from crossply.sdk.request_interface import IncomingRequest, StateParts
from crossply.sdk.resources import Desired, part_of


class DesiredResources(MutableMapping[str, Any]):
    """The desired composed resources by name.

    `rsp.desired["bucket"] = {...}` sets a resource, `rsp.desired["bucket"]` returns one that can be changed.
    """

    __slots__ = ("_incoming", "_opened", "_parts")

    def __init__(self, incoming: IncomingRequest, arrived: Mapping[str, Any]) -> None:
        self._incoming = incoming
        self._parts = dict(arrived)
        self._opened: dict[str, Desired] = {}

    def __getitem__(self, name: str) -> Desired:
        opened = self._opened.get(name)
        if opened is None:
            opened = self._opened[name] = Desired(self._incoming, self._parts[name])
        return opened

    def __setitem__(self, name: str, resource: Any) -> None:
        if not isinstance(name, str):
            raise ValueRefused(f"the name of a resource is a string, not {name!r}")
        self._parts[name] = self._part(name, resource)
        if name in self._opened:
            del self._opened[name]

    def _part(self, name: str, resource: Any) -> Any:
        try:
            if type(resource) is dict:
                return part_of(self._incoming, resource)
            if isinstance(resource, Desired):
                return resource.frozen()
            return part_of(self._incoming, fields_of(resource))
        except ValueRefused as problem:
            raise problem.within(f'desired resource "{name}"') from None

    def __delitem__(self, name: str) -> None:
        del self._parts[name]
        self._opened.pop(name, None)

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
        """Set a resource with its readiness and connection details, and return it."""
        self[name] = resource
        added = self[name]
        added.ready = ready
        added.connection.update(connection or {})
        return added

    def merge(self, name: str, fields: Mapping[str, Any]) -> Desired:
        """Merge fields into a resource, or create it."""
        if name not in self:
            return self.add(name, fields)
        self[name].merge(fields)
        return self[name]

    def clear(self) -> NoReturn:
        """Refused: it would drop the desired state of earlier steps."""
        raise TypeError("the steps before want these resources: delete those you mean by name")

    def popitem(self) -> NoReturn:
        """Refused, as `clear` is."""
        self.clear()

    def parts(self) -> dict[str, Any]:
        """The encoded resources; those that were not accessed are passed on unchanged."""
        parts = dict(self._parts)
        for name, opened in self._opened.items():
            try:
                parts[name] = opened.frozen()
            except ValueRefused as problem:
                raise problem.within(f'desired resource "{name}"') from None
        return parts


class DesiredState:
    """The desired composite resource and the desired composed ones."""

    __slots__ = ("_arrived", "_incoming", "_xr", "resources")

    def __init__(self, incoming: IncomingRequest) -> None:
        self._incoming = incoming
        self._arrived, resources = incoming.desired
        self.resources = DesiredResources(incoming, resources)
        self._xr: Desired | None = None

    @property
    def xr(self) -> Desired:
        """The desired composite resource."""
        if self._xr is None:
            incoming, arrived = self._incoming, self._arrived
            self._xr = Desired(incoming, incoming.part({}) if arrived is None else arrived)
        return self._xr

    def parts(self) -> StateParts:
        """The encoded state."""
        if self._xr is None:
            return StateParts(self._arrived, self.resources.parts())
        try:
            composite = self._xr.frozen()
        except ValueRefused as problem:
            raise problem.within("desired composite resource") from None
        if self._arrived is None and not self._xr:
            unpack = self._incoming.unpack(composite)
            composite = composite if unpack.connection or unpack.ready else None
        return StateParts(composite, self.resources.parts())
