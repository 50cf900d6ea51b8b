"""The objects of one kind in one place, in as few words as a test needs."""

from __future__ import annotations

from typing import Any

from tests.support.api.client import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    Answer,
    Client,
    Object,
    Watch,
)


class Collection:
    """Where objects of a kind live, seen by one user."""

    def __init__(self, client: Client, api_version: str, kind: str, plural: str, namespace: str = "") -> None:
        self.client = client
        self.api_version, self.kind, self.plural, self.namespace = api_version, kind, plural, namespace
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        self.path = f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"

    def with_client(self, client: Client) -> Collection:
        return Collection(client, self.api_version, self.kind, self.plural, self.namespace)

    def at(self, name: str, subresource: str = "") -> str:
        """The path of an object."""
        return f"{self.path}/{name}/{subresource}" if subresource else f"{self.path}/{name}"

    def object(self, name: str, metadata: Object | None = None, **fields: Any) -> Object:
        """An object to send."""
        named = {"name": name} if name else {}
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "metadata": {**named, **(metadata or {})},
            **fields,
        }

    def post(self, obj: Any, **options: Any) -> Answer:
        return self.client.post(self.path, obj, **options)

    def create(self, name: str, metadata: Object | None = None, **fields: Any) -> Object:
        """Create an object, which must succeed."""
        return dict(self.post(self.object(name, metadata, **fields)).ok(201))

    def get(self, name: str, subresource: str = "", **options: Any) -> Answer:
        return self.client.get(self.at(name, subresource), **options)

    def read(self, name: str) -> Object:
        """The object as it is now."""
        return dict(self.get(name).ok(200))

    def list(self, **options: Any) -> Answer:
        return self.client.get(self.path, **options)

    def put(self, obj: Object, subresource: str = "", **options: Any) -> Answer:
        return self.client.put(self.at(obj["metadata"]["name"], subresource), obj, **options)

    def merge(self, name: str, patch: Any, subresource: str = "", **options: Any) -> Answer:
        return self.client.patch(self.at(name, subresource), patch, MERGE_PATCH, **options)

    def json_patch(self, name: str, operations: Any, subresource: str = "", **options: Any) -> Answer:
        return self.client.patch(self.at(name, subresource), operations, JSON_PATCH, **options)

    def strategic(self, name: str, patch: Any, subresource: str = "", **options: Any) -> Answer:
        return self.client.patch(self.at(name, subresource), patch, STRATEGIC_PATCH, **options)

    def apply(
        self, name: str, fields: Object, manager: str = "tester", subresource: str = "", **options: Any
    ) -> Answer:
        """Apply a configuration as a manager."""
        metadata = {"name": name, **fields.get("metadata", {})}
        obj = {"apiVersion": self.api_version, "kind": self.kind, **fields, "metadata": metadata}
        return self.client.patch(
            self.at(name, subresource), obj, APPLY_PATCH, fieldManager=manager, **options
        )

    def delete(self, name: str, body: Any = None, **options: Any) -> Answer:
        return self.client.delete(self.at(name), body, **options)

    def watch(self, **options: Any) -> Watch:
        return self.client.watch(self.path, **options)
