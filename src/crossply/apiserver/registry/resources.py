"""Resources: names, scope and versions of the kinds that the server serves, and their registry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from crossply.values import Object


@dataclass(frozen=True, slots=True)
class Names:
    plural: str
    kind: str
    singular: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`."""

    name: str
    type: str
    json_path: str
    format: str = ""
    description: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """The JSON paths of a scale subresource."""

    spec_replicas: str
    status_replicas: str
    label_selector: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    name: str
    schema: Object | None = None
    """The structural OpenAPI v3 schema; None accepts anything."""
    served: bool = True
    subresources: frozenset[str] = frozenset()
    scale: ScalePaths | None = None
    columns: tuple[Column, ...] = ()
    selectable_fields: tuple[str, ...] = ()
    """Dotted paths that field selectors may use, besides metadata.name and metadata.namespace."""
    deprecation_warning: str = ""
    verbs: tuple[str, ...] = (
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A kind of object that the server stores and serves."""

    group: str
    names: Names
    namespaced: bool
    versions: dict[str, Version]
    storage_version: str
    custom: bool = False
    conversion: Object | None = None
    """`spec.conversion` of the CustomResourceDefinition; None: versions differ in apiVersion only."""
    preserve_unknown: bool = False
    since: int = 0
    """The revision of the definition. Objects stored before may lack defaults and have unknown fields."""
    stored_as: Resource | None = None
    """The resource that stores these objects in another form: events of both groups are stored once."""

    @property
    def key(self) -> str:
        """The name of the resource in the store: `plural.group`, or the plural alone in the core group."""
        if self.stored_as is not None:
            return self.stored_as.key
        return f"{self.names.plural}.{self.group}" if self.group else self.names.plural

    def is_stored_at(self, version: str) -> bool:
        """Whether stored bytes are the objects at this version, unless they are older than the definition."""
        return version == self.storage_version and self.stored_as is None

    def api_version(self, version: str) -> str:
        return f"{self.group}/{version}" if self.group else version


@dataclass(slots=True)
class Registry:
    """All served resources. CustomResourceDefinitions add and remove theirs."""

    _by_key: dict[tuple[str, str], Resource] = field(default_factory=dict)
    _by_kind: dict[tuple[str, str], Resource] = field(default_factory=dict)
    generation: int = 0
    """Increases with every change, so that discovery and OpenAPI can cache."""

    def put(self, resource: Resource) -> None:
        """Serve a resource, or replace it."""
        self.remove(resource.group, resource.names.plural)
        self._by_key[resource.group, resource.names.plural] = resource
        self._by_kind[resource.group, resource.names.kind] = resource
        self.generation += 1

    def remove(self, group: str, plural: str) -> None:
        resource = self._by_key.pop((group, plural), None)
        if resource is not None:
            self._by_kind.pop((group, resource.names.kind), None)
            self.generation += 1

    def find(self, group: str, plural: str) -> Resource | None:
        return self._by_key.get((group, plural))

    def by_kind(self, group: str, kind: str) -> Resource | None:
        return self._by_kind.get((group, kind))

    def all(self) -> Iterable[Resource]:
        """Every resource, in the order of registration."""
        return list(self._by_key.values())
