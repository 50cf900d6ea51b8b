"""A call: one request about objects of a resource, on its way through the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.served_resources import Resource, Version


@dataclass(slots=True)
class Call:
    info: RequestInfo
    user: User
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    resource: Resource
    version: Version
    warnings: list[str] = field(default_factory=list)
    """Sent to the client in Warning headers."""
    weight: int = field(init=False)
    """The weight of the work for this request, as far as it is known."""

    def __post_init__(self) -> None:
        self.weight = len(self.body)

    def flag(self, name: str) -> bool:
        """A boolean query parameter; as in Kubernetes, everything but false and 0 is true."""
        return name in self.query and self.query[name].lower() not in ("0", "false")

    @property
    def dry_run(self) -> bool:
        return self.query.get("dryRun") == "All"

    @property
    def field_manager(self) -> str:
        """The field manager of this request: the named one, or the client's program."""
        manager = self.query.get("fieldManager", "")
        return manager or self.headers.get("User-Agent", "").partition("/")[0] or "unknown"

    @property
    def name(self) -> str:
        """The object's name in the URL."""
        return self.info.name

    @property
    def namespace(self) -> str:
        """The namespace in the URL; empty for cluster-scoped resources."""
        return self.info.namespace if self.resource.namespaced else ""
