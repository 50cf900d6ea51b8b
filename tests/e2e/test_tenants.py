"""Two tenants, each with a namespace and rights in it: a hostile one neither reaches nor stops the other."""

from __future__ import annotations

import asyncio
import contextlib
import secrets

import pytest

from crossply.compose.function_messages import READY_TRUE, Resource
from crossply.control.options import Options
from crossply.kube.client import Client
from crossply.kube.failures import Forbidden, KubeError
from crossply.kube.kind import Kind
from tests.support.e2e.in_process import scenario_with
from tests.support.e2e.pipelines import calling, served
from tests.support.e2e.scenario import CONFIG_MAP, Scenario
from tests.support.e2e.things import READY, Things, config_map, desiring

pytestmark = pytest.mark.xdist_group("e2e-tenants")

RBAC = "rbac.authorization.k8s.io"
ROLE = Kind(RBAC, "v1", "Role", "roles", True)
ROLE_BINDING = Kind(RBAC, "v1", "RoleBinding", "rolebindings", True)
HOSTILE_RESOURCES = 300
EDITS = 5


def tenant_function(victim: str):
    """Compose the objects in the spec; `mode: hostile` names objects of the victim, too."""

    def run(request):
        xr = request.observed.composite.object
        count, size = int(xr["spec"].get("count", 1)), xr["spec"].get("size", "")
        objects = {f"n{number}": config_map(data={"size": size}) for number in range(count)}
        response = desiring(request, **objects)
        if xr["spec"].get("mode") != "hostile":
            return response
        stolen = config_map(metadata={"name": "belongs-to-victim", "namespace": victim}, data={"stolen": "1"})
        resources = {**response.desired.resources, "stolen": Resource(stolen, ready=READY_TRUE)}
        return response._replace(desired=response.desired._replace(resources=resources))

    return run


class Tenant:
    """A user with all rights to the kind and to ConfigMaps in a namespace, and no others."""

    def __init__(self, s: Scenario, things: Things, user: str) -> None:
        self.corner = s
        self.namespace = s.id
        self.client = s.client.acting_as(user, ["system:authenticated"])
        self.kind = things.kind

    @classmethod
    async def admitted(cls, s: Scenario, things: Things, user: str) -> Tenant:
        verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]
        rules = [
            {"apiGroups": [things.kind.group], "resources": [things.kind.plural], "verbs": verbs},
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs},
        ]
        await s.client.create(ROLE, {"metadata": {"name": user, "namespace": s.id}, "rules": rules})
        subject = {"apiGroup": RBAC, "kind": "User", "name": user}
        reference = {"apiGroup": RBAC, "kind": "Role", "name": user}
        binding = {"roleRef": reference, "subjects": [subject]}
        await s.client.create(ROLE_BINDING, {"metadata": {"name": user, "namespace": s.id}, **binding})
        return cls(s, things, user)

    async def apply(self, name: str, namespace: str = "", **spec: object) -> None:
        metadata = {"name": name, "namespace": namespace or self.namespace}
        body = {"apiVersion": self.kind.api_version, "kind": self.kind.kind, "metadata": metadata}
        await self.client.apply(self.kind, {**body, "spec": spec}, "tenant")


async def flood(tenant: Tenant) -> None:
    """Send whatever costs the control plane most, as fast as it is answered."""
    copies = [{"op": "copy", "from": "/spec", "path": f"/metadata/annotations/c{n}"} for n in range(40)]
    long = "x" * 200_000
    while True:
        with contextlib.suppress(KubeError):
            await tenant.client.patch_json(tenant.kind, "many", copies, tenant.namespace)
        with contextlib.suppress(KubeError):
            metadata = {"name": f"large-{secrets.token_hex(2)}", "namespace": tenant.namespace}
            await tenant.client.create(CONFIG_MAP, {"metadata": metadata, "data": {"long": long}})
        with contextlib.suppress(KubeError):
            await tenant.client.list(CONFIG_MAP, tenant.namespace)
        with contextlib.suppress(KubeError):
            await tenant.apply("many", count=HOSTILE_RESOURCES, mode="hostile", size=secrets.token_hex(2))


async def followed(things: Things, client: Client, namespace: str, size: str) -> bool:
    listed = await client.list(CONFIG_MAP, namespace)
    return any(f'"size":"{size}"'.encode() in data for data in listed.items)


async def test_a_hostile_tenant_neither_reaches_nor_stops_another(own_server):
    async with scenario_with(own_server, Options()) as s:
        victims = await Scenario.begin(s.client, f"v{secrets.token_hex(4)}")
        with served(tenant_function(victims.id)) as address:
            things = await Things.defined(s)
            await things.compose(await calling(s, address))
            hostile = await Tenant.admitted(s, things, "hostile")
            victim = await Tenant.admitted(victims, things, "victim")
            victims_map = {
                "metadata": {"name": "belongs-to-victim", "namespace": victims.id},
                "data": {"mine": "1"},
            }
            await victim.client.create(CONFIG_MAP, victims_map)
            await hostile.apply("many", count=HOSTILE_RESOURCES, mode="hostile")
            floods = [asyncio.create_task(flood(hostile)) for _ in range(4)]
            try:
                await edits_are_followed(things, victim)
            finally:
                for task in floods:
                    task.cancel()
                await asyncio.gather(*floods, return_exceptions=True)
            await nothing_was_reached(hostile, victim)
        await victims.end()


async def edits_are_followed(things: Things, victim: Tenant) -> None:
    for number in range(EDITS):
        size = f"{number}-of-victim"
        await victim.apply("mine", size=size)

        async def is_followed(size: str = size) -> bool:
            return await followed(things, victim.client, victim.namespace, size)

        await victim.corner.eventually(is_followed)
    await victim.corner.until(victim.kind, "mine", READY)


async def nothing_was_reached(hostile: Tenant, victim: Tenant) -> None:
    victims_map = await victim.client.get(CONFIG_MAP, "belongs-to-victim", victim.namespace)
    assert victims_map is not None
    assert victims_map["data"] == {"mine": "1"}
    assert "ownerReferences" not in victims_map["metadata"]
    items = (await victim.client.list(CONFIG_MAP, victim.namespace)).items
    assert not [data for data in items if b"hostile" in data or b"stolen" in data]
    with pytest.raises(Forbidden):
        await hostile.client.list(CONFIG_MAP, victim.namespace)
    with pytest.raises(Forbidden):
        await hostile.client.get(hostile.kind, "mine", victim.namespace)
    with pytest.raises(Forbidden):
        await hostile.apply("mine", victim.namespace, size="hostile")
