"""The OpenAPI schemas that an API server publishes, one kind at a time, with every reference resolved."""

from __future__ import annotations

import orjson

from crossply.kube.client import Client
from crossply.kube.failures import NotFound
from crossply.schema.kind_openapi_schema_lookup import find_schema
from crossply.values import Object

MOST_KINDS = 64
"""How many resolved schemas are remembered."""


class PublishedSchemas:
    """Reads documents when they changed, and remembers them: their address has a hash of their content."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._documents: dict[str, tuple[str, dict[str, Object]]] = {}
        self._cache: dict[tuple[str, str], tuple[dict[str, Object], Object | None]] = {}

    async def find(self, api_version: str, kind: str) -> Object | None:
        """The schema of a kind, or None where the server publishes none. It must not be changed."""
        path = f"apis/{api_version}" if "/" in api_version else f"api/{api_version}"
        components = await self._components(path)
        known = self._cache.get((api_version, kind))
        if known is None or known[0] is not components:
            if len(self._cache) >= MOST_KINDS:
                self._cache.clear()
            known = self._cache[api_version, kind] = components, find_schema(components, api_version, kind)
        return known[1]

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
        schemas: dict[str, Object] = (orjson.loads(reply.data).get("components") or {}).get("schemas") or {}
        return schemas
