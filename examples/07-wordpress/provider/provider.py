"""A stand-in for the providers of this example: it makes everything but clouds.

It resolves references, calls a resource ready a moment after it appeared, and writes its connection secret,
as a provider would. Run it beside a control plane: python provider/provider.py KUBECONFIG
"""

from __future__ import annotations

import asyncio
import pathlib
import secrets
import sys
from datetime import UTC, datetime
from functools import partial

import orjson
from references import Unresolved, resolved

from crossply.compose.object_metadata import name_of, namespace_of, uid_of
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.shared_informers import SharedInformers
from crossply.kube.workqueue import Workqueue
from crossply.values import Object
from crossply.values.yaml import read_stream

HERE = pathlib.Path(__file__).parent
MANAGER = "stand-in-provider"
A_MOMENT = 0.2

CRD = Kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
SECRET = Kind("", "v1", "Secret", "secrets", True)
RESOURCE_GROUP = Kind("azure.crossplane.io", "v1alpha3", "ResourceGroup", "resourcegroups", False)
SUBNET = Kind("network.azure.crossplane.io", "v1alpha3", "Subnet", "subnets", False)
SERVER = Kind("database.azure.crossplane.io", "v1beta1", "MySQLServer", "mysqlservers", False)
RULE = Kind(
    SERVER.group, "v1alpha3", "MySQLServerVirtualNetworkRule", "mysqlservervirtualnetworkrules", False
)
APPLICATION = Kind(
    "workload.crossplane.io", "v1alpha1", "KubernetesApplication", "kubernetesapplications", True
)
KINDS = (RESOURCE_GROUP, SUBNET, SERVER, RULE, APPLICATION)
REFERENCES = {"resourceGroupName": RESOURCE_GROUP, "serverName": SERVER, "virtualNetworkSubnetId": SUBNET}

Key = tuple[Kind, str, str]


class Provider:
    """Looks after all resources of its kinds."""

    def __init__(self, client: Client, caches: SharedInformers) -> None:
        self._client = client
        self._caches: dict[Kind, Informer] = {kind: caches.acquire(kind) for kind in KINDS}
        self._queue: Workqueue[Key] = Workqueue(MANAGER)

    async def run(self) -> None:
        """Begin with what is there, and go on for ever."""
        for kind, cache in self._caches.items():
            await cache.synced.wait()
            cache.subscribe(partial(self._notice, kind))
            for namespace, name in list(cache.keys()):
                self._queue.add((kind, namespace, name))
        print("provider ready", flush=True)
        await self._queue.run(self._work, 4)

    def _notice(self, kind: Kind, change: str, key: tuple[str, str], *_: bytes | None) -> None:
        self._queue.add((kind, *key))

    async def _work(self, key: Key) -> None:
        kind, namespace, name = key
        data = self._caches[kind].get(namespace, name)
        if data is None:
            return
        try:
            await self._provide(kind, orjson.loads(data))
        except (Unresolved, CrossplyError) as problem:
            print(f"{kind.kind} {name}: {problem}", file=sys.stderr, flush=True)
            self._queue.add_after(key, A_MOMENT)

    async def _provide(self, kind: Kind, obj: Object) -> None:
        if not _is(obj, "Ready", "False") and not _is(obj, "Ready", "True"):
            await self._tell(kind, obj, "False", "Creating")
            return
        change = resolved(obj, REFERENCES, self._find)
        if change:
            name, namespace = name_of(obj), namespace_of(obj)
            await self._client.patch_merge(kind, name, change, namespace, MANAGER)
            return
        await self._require_secrets(obj)
        await asyncio.sleep(A_MOMENT)
        await self._write_secret(kind, obj)
        if not _is(obj, "Ready", "True"):
            await self._tell(kind, obj, "True", "Available")

    def _find(self, kind: Kind) -> list[Object]:
        return [orjson.loads(data) for data in self._caches[kind].objects()]

    async def _require_secrets(self, obj: Object) -> None:
        """An application starts once every secret that it mounts is there."""
        for template in obj["spec"].get("resourceTemplates") or ():
            for wanted in template["spec"].get("secrets") or ():
                if await self._client.get(SECRET, wanted["name"], namespace_of(obj)) is None:
                    raise Unresolved(f"secret {wanted['name']} does not exist yet")

    async def _write_secret(self, kind: Kind, obj: Object) -> None:
        place = obj["spec"].get("writeConnectionSecretToRef") or {}
        if not place.get("name") or await self._client.get(SECRET, place["name"], place["namespace"]):
            return
        owner = {"apiVersion": kind.api_version, "kind": kind.kind, "name": name_of(obj), "uid": uid_of(obj)}
        details = {
            "username": f"{obj['spec']['forProvider'].get('administratorLogin')}@{name_of(obj)}",
            "password": secrets.token_urlsafe(),
            "endpoint": f"{name_of(obj)}.mysql.database.example.org",
        }
        metadata = {**place, "ownerReferences": [{**owner, "controller": True}]}
        type_ = "connection.crossplane.io/v1alpha1"
        await self._client.create(SECRET, {"metadata": metadata, "type": type_, "stringData": details})

    async def _tell(self, kind: Kind, obj: Object, ready: str, reason: str) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        conditions = [
            {"type": "Ready", "status": ready, "reason": reason, "lastTransitionTime": now},
            {"type": "Synced", "status": "True", "reason": "ReconcileSuccess", "lastTransitionTime": now},
        ]
        status = {"conditions": conditions, "id": f"/subscriptions/example/{kind.plural}/{name_of(obj)}"}
        await self._client.update_status(kind, {**obj, "status": status}, MANAGER)


def _is(obj: Object, type_: str, status: str) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(each["type"] == type_ and each["status"] == status for each in conditions)


async def main(kubeconfig: str) -> None:
    """Install the kinds, and look after them."""
    async with Client(load_config(kubeconfig)) as client, SharedInformers(client) as caches:
        for document in read_stream((HERE / "crds.yaml").read_bytes()):
            await client.apply(CRD, document.value, MANAGER)
        await Provider(client, caches).run()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
