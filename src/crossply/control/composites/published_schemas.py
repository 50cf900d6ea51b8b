"""The OpenAPI schemas that an API server publishes, one kind at a time, with every reference resolved."""

from __future__ import annotations

from typing import Any

import orjson

from crossply.kube.client import Client
from crossply.kube.failures import NotFound
from crossply.values import Object

_GVK = "x-kubernetes-group-version-kind"
_PREFIX = "#/components/schemas/"
_DEEPEST = 64
_MOST_NODES = 200_000
"""A schema that refers to itself never ends; one that is unfolded this far is cut."""


class PublishedSchemas:
    """Reads documents when they changed, and remembers them: their address has a hash of their content."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._documents: dict[str, tuple[str, dict[str, Object]]] = {}

    async def find(self, api_version: str, kind: str) -> Object | None:
        """The schema of a kind, or None where the server publishes none."""
        group, _, version = api_version.rpartition("/")
        components = await self._components(f"apis/{api_version}" if group else f"api/{api_version}")
        wanted = {"group": group, "version": version, "kind": kind}
        for schema in components.values():
            if schema.get(_GVK) == [wanted]:
                unfolded: Object = _Unfolding(components).unfold(schema, 0)
                return unfolded
        return None

    async def _components(self, path: str) -> dict[str, Object]:
        index = orjson.loads((await self._client.request("GET", "/openapi/v3")).data)
        paths = index.get("paths") or {}
        self._documents = {known: self._documents[known] for known in self._documents if known in paths}
        published = paths.get(path)
        if published is None:
            return {}
        address = published["serverRelativeURL"]
        known = self._documents.get(path)
        if known is None or known[0] != address:
            known = self._documents[path] = (address, await self._read(address))
        return known[1]

    async def _read(self, address: str) -> dict[str, Object]:
        try:
            reply = await self._client.request("GET", address)
        except NotFound:
            return {}
        found: dict[str, Object] = (orjson.loads(reply.data).get("components") or {}).get("schemas") or {}
        return found


class _Unfolding:
    """Puts what is referred to in place of each reference."""

    def __init__(self, components: dict[str, Object]) -> None:
        self._components = components
        self._left = _MOST_NODES

    def unfold(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return {}
        if isinstance(value, list):
            return [self.unfold(each, depth + 1) for each in value]
        if not isinstance(value, dict):
            return value
        target = self._referred(value)
        if target is not None:
            return self.unfold(target, depth + 1)
        return {key: self.unfold(each, depth + 1) for key, each in value.items()}

    def _referred(self, value: Object) -> Object | None:
        """What a node refers to; a single `allOf` around a reference is how defaults are put beside it."""
        all_of = value.get("allOf")
        if isinstance(all_of, list) and len(all_of) == 1 and "$ref" in all_of[0]:
            beside = {key: each for key, each in value.items() if key != "allOf"}
            return {**(self._referred(all_of[0]) or {}), **beside}
        reference = value.get("$ref")
        if isinstance(reference, str) and reference.startswith(_PREFIX):
            return self._components.get(reference.removeprefix(_PREFIX), {})
        return None
