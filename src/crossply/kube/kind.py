"""A kind as the API server serves it: what it is called, and at which paths its objects are."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote


class Kind(NamedTuple):
    """One kind at one version."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        """The group and version as objects write them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """The plural and the group, as CustomResourceDefinitions are named."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Where an object is, or a collection where no name is given."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if self.namespaced and namespace:
            root += f"/namespaces/{quote(namespace, safe='')}"
        root += f"/{self.plural}"
        if name:
            root += f"/{quote(name, safe=':')}"
        return f"{root}/{subresource}" if subresource else root
