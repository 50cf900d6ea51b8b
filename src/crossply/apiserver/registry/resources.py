"""What a resource is to the server: its names, scope and versions, wherever it is defined."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from crossply.values import Object


@dataclass(frozen=True, slots=True)
class Names:
    """What a resource is called."""

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
    """Where a custom resource keeps what its scale subresource shows."""

    spec_replicas: str
    status_replicas: str
    label_selector: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """One version of a resource."""

    name: str
    schema: Object | None = None
    """The structural OpenAPI v3 schema; None means that anything goes."""
    served: bool = True
    subresources: frozenset[str] = frozenset()
    scale: ScalePaths | None = None
    columns: tuple[Column, ...] = ()
    selectable_fields: tuple[str, ...] = ()
    """Dotted paths that field selectors may name, besides metadata.name and metadata.namespace."""
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
    """The revision of the definition. What was stored before may lack defaults and have fields too many."""
    stored_as: Resource | None = None
    """The resource whose objects these are, seen in another form: events of both groups are stored once."""

    @property
    def key(self) -> str:
        """How storage names the resource: `plural.group`, or the plural alone in the core group."""
        if self.stored_as is not None:
            return self.stored_as.key
        return f"{self.names.plural}.{self.group}" if self.group else self.names.plural

    def is_stored_at(self, version: str) -> bool:
        """Whether stored bytes are what this version shows, if they are not older than the resource."""
        return version == self.storage_version and self.stored_as is None

    def api_version(self, version: str) -> str:
        """The apiVersion of objects at a version."""
        return f"{self.group}/{version}" if self.group else version


@dataclass(slots=True)
class Registry:
    """All resources that are served now. CustomResourceDefinitions add and remove theirs while it runs."""

    _by_key: dict[tuple[str, str], Resource] = field(default_factory=dict)
    _by_kind: dict[tuple[str, str], Resource] = field(default_factory=dict)
    generation: int = 0
    """Grows with every change, so that discovery and OpenAPI know when to be made anew."""

    def put(self, resource: Resource) -> None:
        """Serve a resource, or serve it as it is now."""
        self.remove(resource.group, resource.names.plural)
        self._by_key[resource.group, resource.names.plural] = resource
        self._by_kind[resource.group, resource.names.kind] = resource
        self.generation += 1

    def remove(self, group: str, plural: str) -> None:
        """Stop serving a resource."""
        resource = self._by_key.pop((group, plural), None)
        if resource is not None:
            self._by_kind.pop((group, resource.names.kind), None)
            self.generation += 1

    def find(self, group: str, plural: str) -> Resource | None:
        """The resource by the name that URLs use."""
        return self._by_key.get((group, plural))

    def by_kind(self, group: str, kind: str) -> Resource | None:
        """The resource whose objects are of this kind."""
        return self._by_kind.get((group, kind))

    def all(self) -> Iterable[Resource]:
        """Every resource, in the order in which they came."""
        return list(self._by_key.values())
