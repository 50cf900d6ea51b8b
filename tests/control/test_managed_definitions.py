"""Providers that Crossplane installed: their kinds are controlled by ManagedResourceDefinitions."""

from __future__ import annotations

import secrets

import orjson
import pytest

from crossply.control.kinds import PROVIDER
from crossply.control.package_manager.establisher import Establisher
from crossply.control.package_manager.managed_definitions import MANAGED_DEFINITION
from crossply.control.package_manager.owner_references import AlreadyControlled
from crossply.control.package_manager.provider_roles import roles_of_provider
from crossply.control.plane import plane_for
from crossply.kube.core_kinds import CRD
from crossply.values.deepcopy import deepcopy
from tests.support.control.runtimes import eventually
from tests.support.e2e.packages import crd

pytestmark = pytest.mark.usefixtures("installed")


class Installed:
    """A Provider of one kind as Crossplane leaves it."""

    def __init__(self, client, ns):
        self.client = client
        self.group = f"g{secrets.token_hex(4)}.example.org"
        self.crd = crd(self.group)
        self.name = self.crd["metadata"]["name"]
        self.package = self.group.partition(".")[0]
        self.plane = plane_for(client)
        self.establishing = Establisher(self.plane, ns)

    async def own(self, name):
        """A Provider, as an owner; what belongs to nobody is collected."""
        body = {"apiVersion": PROVIDER.api_version, "kind": PROVIDER.kind, "metadata": {"name": name}}
        created = await self.client.create(
            PROVIDER, {**body, "spec": {"package": "registry.example.org/p:v1"}}
        )
        return {key: body[key] for key in ("apiVersion", "kind")} | {
            "name": name,
            "uid": created["metadata"]["uid"],
        }

    async def define(self, by="", active=True):
        """Make the definition, and its CRD where it is active; `by` is another Provider that brings it."""
        self.provider = owner = await self.own(self.package)
        if by:
            owner = await self.own(by)
        if await self.client.get(CRD, MANAGED_DEFINITION.resource) is None:
            await self.client.create(CRD, _definition_crd())
            await eventually(lambda: self.client.list(MANAGED_DEFINITION))
        body = {
            "apiVersion": MANAGED_DEFINITION.api_version,
            "kind": MANAGED_DEFINITION.kind,
            "metadata": {"name": self.name, "ownerReferences": [owner]},
        }
        created = await self.client.create(MANAGED_DEFINITION, body, "crossplane")
        if active:
            controller = {key: created[key] for key in ("apiVersion", "kind")} | {"controller": True}
            controller |= {key: created["metadata"][key] for key in ("name", "uid")}
            metadata = {"name": self.name, "ownerReferences": [controller]}
            await self.client.create(CRD, {**self.crd, "metadata": metadata}, "crossplane")
        return created

    @property
    def revision(self):
        metadata = {"name": f"{self.package}-1", "uid": "1", "ownerReferences": [self.provider]}
        metadata["labels"] = {"pkg.crossplane.io/package": self.package}
        spec = {"image": "registry.example.org/p:v1", "desiredState": "Active", "revision": 1}
        return {
            "apiVersion": "pkg.crossplane.io/v1",
            "kind": "ProviderRevision",
            "metadata": metadata,
            "spec": spec,
        }

    async def establish(self, obj=None):
        async with self.plane.informers:
            return await self.establishing.establish(self.revision, [orjson.dumps(obj or self.crd)])


def _definition_crd():
    definition = crd(MANAGED_DEFINITION.group, MANAGED_DEFINITION.kind)
    definition["spec"]["versions"][0]["name"] = MANAGED_DEFINITION.version
    return definition


@pytest.fixture
def installation(client, ns):
    return Installed(client, ns)


@pytest.mark.parametrize("active", [True, False])
async def test_what_crossplane_installed_stays_as_it_is(installation, active):
    definition = await installation.define(active=active)
    before = await installation.client.get(CRD, installation.name)
    established = await installation.establish()
    assert await installation.client.get(CRD, installation.name) == before
    [reference] = established.references
    assert (reference["kind"], reference["uid"]) == (
        MANAGED_DEFINITION.kind,
        definition["metadata"]["uid"],
    )
    [edit, *_] = roles_of_provider(installation.revision, established.references)
    assert edit["rules"][0]["apiGroups"] == [installation.group]


async def test_a_newer_package_changes_the_crd_and_not_who_controls_it(installation):
    await installation.define()
    newer = deepcopy(installation.crd)
    schema = newer["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"] = {"size": {"type": "string"}}
    owners = (await installation.client.get(CRD, installation.name))["metadata"]["ownerReferences"]
    await installation.establish(newer)
    live = await installation.client.get(CRD, installation.name)
    assert live["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == schema
    assert live["metadata"]["ownerReferences"] == owners


async def test_the_kind_of_another_provider_is_not_taken(installation):
    await installation.define(by=f"{installation.package}-other")
    with pytest.raises(AlreadyControlled):
        await installation.establish()
