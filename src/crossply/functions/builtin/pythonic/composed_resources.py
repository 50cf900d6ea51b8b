"""Composed resources: what is desired of each, what is observed, and on which others it depends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.compose.function_messages import READY_FALSE, READY_TRUE, READY_UNSPECIFIED
from crossply.functions.builtin.pythonic.conditions import UNSET, Conditions
from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.node import put
from crossply.functions.builtin.pythonic.readiness import resource_ready
from crossply.functions.builtin.pythonic.value import Value

_EXTERNAL_NAME = "crossplane.io/external-name"
_DEPENDENCY = "pythonic.dependency"


class Resources:
    """The composed resources by name."""

    __slots__ = ("_composite", "_known")

    _composite: Any
    _known: dict[str, Resource]

    def __init__(self, composite: Any) -> None:
        put(self, "_composite", composite)
        put(self, "_known", {})

    def _desired(self) -> Any:
        return self._composite.response.desired.resources

    def __getattr__(self, name: str) -> Resource:
        return self[name]

    def __getitem__(self, name: str) -> Resource:
        if name not in self._known:
            self._known[name] = Resource(self._composite, name)
        return self._known[name]

    def __setattr__(self, name: str, resource: Any) -> None:
        self[name] = resource

    def __setitem__(self, name: str, resource: Any) -> None:
        self._desired()[name].resource = resource
        self._known.pop(name, None)

    def __delattr__(self, name: str) -> None:
        del self[name]

    def __delitem__(self, name: str) -> None:
        del self._desired()[name]
        self._known.pop(name, None)

    def __bool__(self) -> bool:
        return bool(self._desired())

    def __len__(self) -> int:
        return len(self._desired())

    def __contains__(self, name: object) -> bool:
        return name in self._desired()

    def __iter__(self) -> Iterator[tuple[str, Resource]]:
        for name, _ in self._desired():
            yield name, self[name]


def split_kind(kind: Any, api_version: Any) -> tuple[Any, Any]:
    """The kind and the apiVersion of two arguments in either order."""
    if kind is not UNSET and ("/" in kind or kind == "v1"):
        return api_version, kind
    return kind, api_version


def ready_number(ready: Any) -> int:
    if ready:
        return READY_TRUE
    return READY_UNSPECIFIED if ready is None else READY_FALSE


def _desired_part(name: str) -> Any:
    """A part of the desired object as a property that can be assigned."""

    def read(self: Resource) -> Any:
        return self.desired[name]

    def write(self: Resource, value: Any) -> None:
        self.desired[name] = value

    return property(read, write)


class Resource:
    """One composed resource."""

    apiVersion = _desired_part("apiVersion")
    kind = _desired_part("kind")
    metadata = _desired_part("metadata")
    spec = _desired_part("spec")
    type = _desired_part("type")
    data = _desired_part("data")

    def __init__(self, composite: Any, name: str) -> None:
        self._composite = composite
        self.name = name
        observed = composite.request.observed.resources[name]
        self._message = composite.response.desired.resources[name]
        self.observed = observed.resource
        self.desired = self._message.resource
        self.conditions = Conditions(observed)
        self.connection = observed.connection_details
        self.autoReady: bool | None = None
        self.usages: bool | None = None
        self.unknownsFatal: bool | None = None
        self._ready: Any = UNSET

    def __call__(
        self, kind: Any = UNSET, apiVersion: Any = UNSET, namespace: Any = UNSET, name: Any = UNSET
    ) -> Resource:
        """Desire the resource, forget what was assigned to it so far, and set what is given."""
        self.desired()
        kind, apiVersion = split_kind(kind, apiVersion)
        if kind is not UNSET:
            self.kind = kind
        if apiVersion is not UNSET:
            self.apiVersion = apiVersion
        if namespace is not UNSET:
            self.metadata.namespace = namespace
        if name is not UNSET:
            self.metadata.name = name
        return self

    @property
    def status(self) -> Any:
        return self.observed.status

    @property
    def externalName(self) -> Any:
        name = self.metadata.annotations[_EXTERNAL_NAME]
        if not name:
            name = self.observed.metadata.annotations[_EXTERNAL_NAME]
            if name:
                self.externalName = name
        return name

    @externalName.setter
    def externalName(self, name: Any) -> None:
        self.metadata.annotations[_EXTERNAL_NAME] = name

    @property
    def ready(self) -> Any:
        if self._ready is UNSET:
            self._ready = {READY_TRUE: True, READY_FALSE: False}.get(self._message.ready._value)
            if self._ready is None and _inherited(self.autoReady, self._composite.autoReady):
                ready = resource_ready(self)
                if ready:
                    self.ready = ready
        return self._ready

    @ready.setter
    def ready(self, ready: Any) -> None:
        self._ready = ready
        self._message.ready = ready_number(ready)

    def setReadyCondition(self, type: str = "Ready") -> None:
        """Make the resource ready when a condition of it is true."""
        condition = self.conditions[type]
        if condition.status:
            self.ready = self.observed.metadata.name
            return
        missing = self.status[f"not{type}Condition"]
        self.ready = missing[condition.reason] if condition.reason else missing

    def addDependency(self, resource: Resource, field: Any = UNSET) -> None:
        """Let this resource wait until another is ready, or until a field of it is known."""
        if field is UNSET:
            field = _readiness_of(resource)
        elif field is None:
            field = True
        if not isinstance(field, FieldMessage | Value):
            name = resource.observed.metadata.name
            field = name if field or not name else resource.status.notReady
        self.metadata.annotations[f"{_DEPENDENCY}/{resource.name}"] = field


def _inherited(own: bool | None, composite: bool) -> bool:
    return composite if own is None else own


def _readiness_of(resource: Resource) -> Any:
    """Whether a resource is ready, which is decided here unless the program has set it."""
    if resource.ready is None:
        ready = resource_ready(resource)
        resource.ready = False if ready is None else ready
    return resource.ready
