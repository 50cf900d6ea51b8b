"""The floor: a bare client that sends only the unavoidable writes, for as many composite resources.

One apply of the composite resource, a create for each part, and one write of its status. No control plane
can do with less.
"""

from __future__ import annotations

import asyncio
import os
import time

from control_workload import APP, CONFIG_MAP, NAMESPACE, PARTS, app
from crossply.kube.client import Client
from crossply.kube.kind import Kind

WORKERS = 64
_BARE = Kind(APP.group, APP.version, "Bare", "bares", True)
_CRD = Kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)


async def floor(client: Client, count: int) -> tuple[float, float]:
    """The wall and CPU seconds of the unavoidable writes for so many."""
    await _define(client)
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await _one(client, number)

    start, cpu = time.perf_counter(), sum(os.times()[:2])
    await asyncio.gather(*(worker() for _ in range(WORKERS)))
    return time.perf_counter() - start, sum(os.times()[:2]) - cpu


async def _one(client: Client, number: int) -> None:
    obj = {**app(number), "kind": _BARE.kind}
    name = obj["metadata"]["name"]
    await client.apply(_BARE, obj, "floor")
    for part in PARTS:
        metadata = {"name": f"bare-{name}-{part}", "namespace": NAMESPACE, "labels": {"bare": name}}
        data = {"part": part, "size": "small", "region": "here"}
        await client.create(
            CONFIG_MAP, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        )
    status = {"conditions": [{"type": "Ready", "status": "True", "reason": "Available"}]}
    body = {"apiVersion": _BARE.api_version, "kind": _BARE.kind, "metadata": obj["metadata"]}
    await client.apply(_BARE, {**body, "status": status}, "floor", subresource="status")


async def _define(client: Client) -> None:
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": APP.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": loose, "status": loose}}},
        "subresources": {"status": {}},
    }
    names = {"kind": _BARE.kind, "plural": _BARE.plural, "singular": "bare", "listKind": "BareList"}
    spec = {"group": APP.group, "scope": "Namespaced", "names": names, "versions": [version]}
    metadata = {"name": _BARE.resource}
    await client.apply(
        _CRD,
        {"apiVersion": _CRD.api_version, "kind": _CRD.kind, "metadata": metadata, "spec": spec},
        "floor",
    )
    while True:
        try:
            await client.list(_BARE, NAMESPACE)
            return
        except Exception:  # noqa: BLE001 - not served yet
            await asyncio.sleep(0.2)
