"""The platform of shops in a running control plane."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from crossply.control.kinds import COMPOSITION, CRON_OPERATION, FUNCTION, OPERATION
from crossply.kube.client import Client
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.patience import PATIENCE
from tests.support.ui import shop_platform as shops

DEFINITION = Kind(
    "apiextensions.crossplane.io", "v2", "CompositeResourceDefinition", "compositeresourcedefinitions", False
)
SHOP = Kind(shops.GROUP, "v1", "Shop", "shops", True)
MANAGER = "kubectl"


async def install_platform(client: Client) -> None:
    """Install everything, and wait until every shop is in its state."""
    for function in shops.FUNCTIONS:
        await client.apply(FUNCTION, function, MANAGER)
    for definition in (shops.SHOPS, shops.DATABASES):
        await client.apply(DEFINITION, definition, MANAGER)
    for composition in (shops.SHOP_COMPOSITION, shops.DATABASE_COMPOSITION):
        await client.apply(COMPOSITION, composition, MANAGER)
    for store in shops.STORES:
        await _eventually_applied(client, store)
    await client.apply(OPERATION, shops.operation("report", shops.REPORT), MANAGER)
    await client.apply(OPERATION, shops.operation("broken", '{{ fail "no printer" }}'), MANAGER)
    await client.apply(CRON_OPERATION, shops.NIGHTLY, MANAGER)
    await until(client, SHOP, "bakery", "default", is_ready)
    await until(client, SHOP, "arcade", "default", lambda obj: _status(obj, "Synced") == "False")
    await until(client, SHOP, "cinema", "default", lambda obj: _status(obj, "Ready") == "False")
    await until(client, OPERATION, "report", "", lambda obj: _status(obj, "Succeeded") == "True")
    await until(client, OPERATION, "broken", "", lambda obj: _status(obj, "Succeeded") == "False")


async def _eventually_applied(client: Client, store: Object) -> None:
    """Apply a shop as soon as its kind is served."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await client.apply(SHOP, store, MANAGER)
                return
            except KubeError:
                await asyncio.sleep(0.1)


async def until(
    client: Client, kind: Kind, name: str, namespace: str, is_right: Callable[[Object], bool]
) -> Object:
    """The object as soon as it is right."""
    obj: Object | None = None
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                obj = await client.get(kind, name, namespace)
                if obj is not None and is_right(obj):
                    return obj
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"{kind.kind} {name} stays: {obj}") from None


def is_ready(obj: Object) -> bool:
    """Whether a composite resource is ready."""
    return _status(obj, "Ready") == "True"


def _status(obj: Object, type_: str) -> str:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next((entry["status"] for entry in conditions if entry["type"] == type_), "")
