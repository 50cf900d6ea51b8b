"""Resources and schemas that a program asks the caller for, and what the caller sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.functions.builtin.pythonic.composed_resources import split_kind
from crossply.functions.builtin.pythonic.conditions import UNSET, Conditions
from crossply.functions.builtin.pythonic.message import Message
from crossply.functions.builtin.pythonic.message_collections import MapMessage


class _ByName:
    """Required resources, by name: the selectors, and what was sent."""

    def __init__(self, sent: MapMessage, selectors: MapMessage) -> None:
        self._sent = sent
        self._selectors = selectors
        self._known: dict[str, Any] = {}

    def _make(self, name: str) -> Any:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self._make(name)
        return self._known[name]

    def __bool__(self) -> bool:
        return bool(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __contains__(self, name: object) -> bool:
        return name in self._sent or name in self._selectors

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name in sorted(self._names()):
            yield name, self[name]

    def _names(self) -> set[str]:
        return {name for entries in (self._sent, self._selectors) for name, _ in entries}


def _selected_part(name: str) -> Any:
    """A field of the selector as a property that can be assigned."""

    def read(self: _Selected) -> Any:
        return self._selector[name]

    def write(self: _Selected, value: Any) -> None:
        self._selector[name] = value

    return property(read, write)


class _Selected:
    """A requirement by kind."""

    apiVersion = _selected_part("api_version")
    kind = _selected_part("kind")

    _selector: Any

    def _select(self, kind: Any, api_version: Any) -> None:
        """Begin a new selector."""
        self._selector()
        kind, api_version = split_kind(kind, api_version)
        if kind is not UNSET:
            self.kind = kind
        if api_version is not UNSET:
            self.apiVersion = api_version


class Requireds(_ByName):
    """The required resources by name."""

    def __init__(self, composite: Any) -> None:
        request, requirements = composite.request, composite.response.requirements
        if composite.crossplane_v1:
            super().__init__(request.extra_resources, requirements.extra_resources)
        else:
            super().__init__(request.required_resources, requirements.resources)

    def _make(self, name: str) -> RequiredResources:
        return RequiredResources(name, self._selectors[name], self._sent[name])


class RequiredResources(_Selected):
    """The resources that one selector asks for."""

    namespace = _selected_part("namespace")
    matchName = _selected_part("match_name")

    def __init__(self, name: str, selector: Message, resources: Message) -> None:
        self.name = name
        self._selector = selector
        self._resources = resources
        self._known: dict[int, RequiredResource] = {}

    def __call__(
        self,
        kind: Any = UNSET,
        apiVersion: Any = UNSET,
        namespace: Any = UNSET,
        name: Any = UNSET,
        labels: Any = UNSET,
    ) -> RequiredResources:
        """Ask for resources of a kind: the one of a name, those with labels, or all."""
        self._select(kind, apiVersion)
        for field, value in (("namespace", namespace), ("matchName", name), ("matchLabels", labels)):
            if value is not UNSET:
                setattr(self, field, value)
        return self

    @property
    def matchLabels(self) -> Any:
        return self._selector.match_labels.labels

    @matchLabels.setter
    def matchLabels(self, labels: Any) -> None:
        match_labels = self._selector.match_labels.labels()
        for entry in labels or ():
            if isinstance(entry, str):
                match_labels[entry] = labels[entry]
            elif isinstance(entry, list | tuple):
                match_labels[entry[0]] = entry[1]

    def __getitem__(self, index: int) -> RequiredResource:
        if index not in self._known:
            self._known[index] = RequiredResource(self.name, index, self._resources.items[index])
        return self._known[index]

    def __bool__(self) -> bool:
        return bool(self._resources.items)

    def __len__(self) -> int:
        return len(self._resources.items)

    def __iter__(self) -> Iterator[RequiredResource]:
        for index in range(len(self)):
            yield self[index]


class RequiredResource:
    """One required resource, which is false if there is none."""

    def __init__(self, name: str, index: int, resource: Message) -> None:
        self.name = name
        self.ix = index
        self.observed = resource.resource
        for part in ("apiVersion", "kind", "metadata", "spec", "type", "data", "status"):
            setattr(self, part, self.observed[part])
        self.conditions = Conditions(resource)
        self.connection = resource.connection_details

    def __bool__(self) -> bool:
        return bool(self.observed)


class Schemas(_ByName):
    """The required schemas by name."""

    def __init__(self, composite: Any) -> None:
        super().__init__(composite.request.required_schemas, composite.response.requirements.schemas)

    def _make(self, name: str) -> Schema:
        return Schema(name, self._selectors[name], self._sent[name].openapi_v3)


class Schema(_Selected):
    """The OpenAPI schema of a kind: a map."""

    def __init__(self, name: str, selector: Message, schema: Any) -> None:
        self.name = name
        self._selector = selector
        self._schema = schema

    def __call__(self, kind: Any = UNSET, apiVersion: Any = UNSET) -> Schema:
        """Ask for the schema of a kind."""
        self._select(kind, apiVersion)
        return self

    def __enter__(self) -> Schema:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, key: Any) -> Any:
        return self._schema[key]

    def __bool__(self) -> bool:
        return bool(self._schema)

    def __len__(self) -> int:
        return len(self._schema)

    def __contains__(self, key: object) -> bool:
        return key in self._schema

    def __iter__(self) -> Iterator[Any]:
        return iter(self._schema)

    def __hash__(self) -> int:
        return hash(self._schema)

    def __eq__(self, other: object) -> bool:
        return bool(self._schema == (other._schema if isinstance(other, Schema) else other))

    def __str__(self) -> str:
        return str(self._schema)

    def __format__(self, spec: str) -> str:
        return format(self._schema, spec)
