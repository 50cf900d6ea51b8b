"""Packages that wait for an object of somebody else: the controllers here retry a failure only after an hour.

A wait without a watch therefore never ends within the patience of a test.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.e2e.in_process import scenario_with
from tests.support.e2e.packages import (
    CONFIGURATION,
    HEALTHY,
    PROVIDER,
    Packages,
    composition,
    condition_message,
    crd,
    definition,
)
from tests.support.e2e.scenario import COMPOSITION, CRD, DEFINITION, NAMESPACE, Scenario, condition
from tests.support.e2e.waits import OPTIONS, one_config_map, packages_at_rest
from tests.support.programs import needs

pytestmark = [needs("docker-registry"), pytest.mark.xdist_group("e2e-waits")]

GiveUp = Callable[[Scenario, Kind, str], Awaitable[object]]


@pytest.fixture
async def s(own_server) -> AsyncIterator[Scenario]:
    async with scenario_with(own_server, OPTIONS) as scenario:
        yield scenario


async def controlled(s: Scenario, kind: Kind, obj: Object) -> None:
    """Create an object that something else controls."""
    namespace = await s.client.get(NAMESPACE, s.id)
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": s.id, "uid": namespace["metadata"]["uid"]}
    metadata = {**obj["metadata"], "ownerReferences": [{**owner, "controller": True}]}
    await s.client.create(kind, {**obj, "metadata": metadata})


async def refused(s: Scenario, packages: Packages, kind: Kind, image: str, owner: str) -> str:
    """A package that is installed and cannot take control of its object."""
    name = await packages.install(kind, image)
    revision = await packages.revision(kind, name, condition("RevisionHealthy", "False"))
    message = condition_message(revision, "RevisionHealthy")
    assert f"is already controlled by {owner}" in message
    await packages_at_rest(s)
    return name


async def delete(s: Scenario, kind: Kind, name: str) -> None:
    await s.client.delete(kind, name)


async def release(s: Scenario, kind: Kind, name: str) -> None:
    await s.client.patch_merge(kind, name, {"metadata": {"ownerReferences": None}}, "", "test")


@pytest.mark.parametrize("give_up", [delete, release])
async def test_a_package_is_installed_once_its_composition_is_given_up(
    s: Scenario, registry: str, give_up: GiveUp
) -> None:
    packages = Packages(s, registry)
    mine = composition(s, one_config_map())
    await packages.push("platform:v1", "Configuration", mine)
    await controlled(s, COMPOSITION, mine)
    name = await refused(s, packages, CONFIGURATION, "platform:v1", "Namespace")
    await give_up(s, COMPOSITION, s.id)
    await s.until(CONFIGURATION, name, HEALTHY)
    await packages.remove(CONFIGURATION, name)


@pytest.mark.parametrize("give_up", [delete, release])
async def test_a_provider_is_installed_once_its_crd_is_given_up(
    s: Scenario, registry: str, give_up: GiveUp
) -> None:
    packages = Packages(s, registry)
    buckets = crd(s.group)
    await packages.push("provider:v1", "Provider", buckets)
    await controlled(s, CRD, buckets)
    name = await refused(s, packages, PROVIDER, "provider:v1", "Namespace")
    await give_up(s, CRD, buckets["metadata"]["name"])
    await packages.revision(PROVIDER, name, condition("RevisionHealthy", "True"))
    await packages.remove(PROVIDER, name)


async def test_a_package_takes_over_the_definition_of_one_that_is_removed(s: Scenario, registry: str) -> None:
    packages = Packages(s, registry)
    for image in ("first:v1", "second:v1"):
        await packages.push(image, "Configuration", definition(s))
    first = await packages.install(CONFIGURATION, "first:v1")
    await s.until(CONFIGURATION, first, HEALTHY)
    await s.until(DEFINITION, s.xrs.resource, condition("Established", "True"))
    second = await refused(s, packages, CONFIGURATION, "second:v1", f"ConfigurationRevision {first}-")
    await s.client.delete(CONFIGURATION, first)
    await s.until(CONFIGURATION, second, HEALTHY)
    await packages.remove(CONFIGURATION, second)
