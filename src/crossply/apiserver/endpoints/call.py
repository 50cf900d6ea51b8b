"""One request on its way through the server: what is asked, by whom, about which resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.registry.resources import Resource, Version


@dataclass(slots=True)
class Call:
    """A request about objects of one resource at one version."""

    info: RequestInfo
    user: User
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    resource: Resource
    version: Version
    warnings: list[str] = field(default_factory=list)
    """Said to the client in Warning headers."""
    weight: int = field(init=False)
    """How many bytes the work of this request is about, as far as they are known."""

    def __post_init__(self) -> None:
        self.weight = len(self.body)

    def flag(self, name: str) -> bool:
        """A boolean of the query; as in Kubernetes everything but false and 0 is true."""
        return name in self.query and self.query[name].lower() not in ("0", "false")

    @property
    def dry_run(self) -> bool:
        """Whether everything is to happen but the write."""
        return self.query.get("dryRun") == "All"

    @property
    def field_manager(self) -> str:
        """Who owns the fields that this request writes: the named manager, or the client's program."""
        manager = self.query.get("fieldManager", "")
        return manager or self.headers.get("User-Agent", "").partition("/")[0] or "unknown"

    @property
    def name(self) -> str:
        """The object's name in the URL."""
        return self.info.name

    @property
    def namespace(self) -> str:
        """The namespace in the URL; empty for cluster scoped resources."""
        return self.info.namespace if self.resource.namespaced else ""
