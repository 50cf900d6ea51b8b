"""Resources: names, scope and versions of the kinds that the server serves, and their registry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from crossply.values import Object


class LazySchema(Protocol):
    """A schema that is stored encoded, and decoded when it is used."""

    size: int
    """Bytes of its JSON, or more."""

    def load(self) -> Object:
        """The schema; the same object as long as it is used often."""
        ...

    def decode(self) -> Object:
        """The schema for one use, which is not kept."""
        ...


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


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Version:
    name: str
    schema_source: Object | LazySchema | None = None
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

    @property
    def schema(self) -> Object | None:
        """The structural OpenAPI v3 schema; None accepts anything."""
        source = self.schema_source
        return source if source is None or isinstance(source, dict) else source.load()

    def read_schema(self) -> Object | None:
        """The schema for one use; it does not displace those that are used often."""
        source = self.schema_source
        return source if source is None or isinstance(source, dict) else source.decode()

    @property
    def schema_size(self) -> int:
        """About how many bytes the schema has as JSON; zero for one that is never dropped from memory."""
        source = self.schema_source
        return 0 if source is None or isinstance(source, dict) else source.size


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
    digest: bytes = b""
    """Of what a CustomResourceDefinition says; empty for built-in kinds."""
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

    _by_group: dict[str, dict[str, Resource]] = field(default_factory=dict)
    """By group and plural."""
    _by_kind: dict[tuple[str, str], Resource] = field(default_factory=dict)
    generation: int = 0
    """Increases with every change, so that discovery and OpenAPI can cache."""

    def put(self, resource: Resource) -> None:
        """Serve a resource, or replace it."""
        self.remove(resource.group, resource.names.plural)
        self._by_group.setdefault(resource.group, {})[resource.names.plural] = resource
        self._by_kind[resource.group, resource.names.kind] = resource
        self.generation += 1

    def remove(self, group: str, plural: str) -> None:
        resources = self._by_group.get(group, {})
        resource = resources.pop(plural, None)
        if resource is not None:
            self._by_kind.pop((group, resource.names.kind), None)
            self.generation += 1
            if not resources:
                del self._by_group[group]

    def find(self, group: str, plural: str) -> Resource | None:
        resources = self._by_group.get(group)
        return resources.get(plural) if resources is not None else None

    def by_kind(self, group: str, kind: str) -> Resource | None:
        return self._by_kind.get((group, kind))

    def in_group(self, group: str) -> Iterable[Resource]:
        """The resources of a group, in the order of registration."""
        return list(self._by_group.get(group, {}).values())

    def all(self) -> Iterable[Resource]:
        """Every resource, by group in the order of registration."""
        return [resource for resources in self._by_group.values() for resource in resources.values()]
