"""Seed 1, as it is written: Wordpress, MySQLInstance, MySQLInstanceRequirement, and a stand-in provider."""

from __future__ import annotations

import asyncio
import base64
import json
import pathlib
import subprocess
import sys

import pytest

from crossply.kube.client import Client
from crossply.kube.discovery import Discovery
from crossply.kube.kind import Kind
from crossply.values.yaml import read_stream
from tests.support.chart_installation import let_impersonate
from tests.support.e2e.first_design import (
    APPLICATION_DEFINITION,
    INFRASTRUCTURE_DEFINITION,
    OFFERED,
    PUBLICATION,
    READY,
    engine,
    established,
    sql_name,
)
from tests.support.e2e.kubeconfig import kubeconfig_for
from tests.support.e2e.scenario import SECRET, Scenario

pytestmark = pytest.mark.xdist_group("e2e")

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
MYSQL, WORDPRESS = EXAMPLES / "06-mysqlinstance", EXAMPLES / "07-wordpress"
INSTANCE = Kind("database.example.org", "v1alpha1", "MySQLInstance", "mysqlinstances", False)
REQUIREMENT = INSTANCE._replace(
    kind="MySQLInstanceRequirement", plural="mysqlinstancerequirements", namespaced=True
)
APPLICATION = Kind("apps.example.org", "v1alpha1", "Wordpress", "wordpresses", True)
WORKLOAD = Kind("workload.crossplane.io", "v1alpha1", "KubernetesApplication", "kubernetesapplications", True)
SERVER = Kind("database.azure.crossplane.io", "v1beta1", "MySQLServer", "mysqlservers", False)
RULE = Kind(
    SERVER.group, "v1alpha3", "MySQLServerVirtualNetworkRule", "mysqlservervirtualnetworkrules", False
)
GROUP = Kind("azure.crossplane.io", "v1alpha3", "ResourceGroup", "resourcegroups", False)


async def apply(client, *paths):
    """Do as `kubectl apply` does."""
    discovery = Discovery(client)
    for path in paths:
        for document in read_stream(path.read_bytes()):
            kind = await discovery.kind_for(document.value["apiVersion"], document.value["kind"])
            await client.apply(kind, document.value, "kubectl")


@pytest.fixture(scope="module")
def platform(control_plane, tmp_path_factory):
    """What both kinds of operators and the provider bring, before anybody uses it; all of it goes again."""
    directory = tmp_path_factory.mktemp("provider")
    kubeconfig, log = directory / "kubeconfig", directory / "provider.err"
    kubeconfig.write_text(json.dumps(asyncio.run(kubeconfig_for(control_plane))))
    command = [sys.executable, str(WORDPRESS / "provider" / "provider.py"), str(kubeconfig)]
    with open(log, "w") as errors:
        provider = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert provider.stdout is not None
    try:
        assert provider.stdout.readline() == "provider ready\n", log.read_text()
        asyncio.run(prepare(control_plane))
        yield
        asyncio.run(clean(control_plane))
    finally:
        provider.terminate()
        provider.stdout.close()
        provider.wait(30)


async def prepare(config):
    async with Client(config) as client:
        s = Scenario(client, "default")
        await apply(client, WORDPRESS / "account.yaml", WORDPRESS / "provider" / "network.yaml")
        await let_impersonate(client, "crossplane-system", APPLICATION.resource)
        for kind in (GROUP, SERVER, RULE, WORKLOAD):
            await s.grant(kind)
        await apply(client, MYSQL / "definition.yaml", MYSQL / "composition.yaml")
        await apply(client, WORDPRESS / "publication.yaml")
        await apply(client, WORDPRESS / "definition.yaml", WORDPRESS / "composition.yaml")
        await s.until(INFRASTRUCTURE_DEFINITION, INSTANCE.resource, established)
        await s.until(PUBLICATION, INSTANCE.resource, OFFERED)
        await s.until(APPLICATION_DEFINITION, APPLICATION.resource, established)


async def clean(config):
    async with Client(config) as client:
        s = Scenario(client, "default")
        await client.delete(APPLICATION_DEFINITION, APPLICATION.resource)
        await s.until_gone(APPLICATION_DEFINITION, APPLICATION.resource)
        await client.delete(INFRASTRUCTURE_DEFINITION, INSTANCE.resource)
        await s.until_gone(INFRASTRUCTURE_DEFINITION, INSTANCE.resource)
        await client.delete(PUBLICATION, INSTANCE.resource)


def details(secret):
    return {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}


async def composed(s, owner, kind, place):
    """The resource of a kind that something is composed of."""
    references = owner["spec"][place]["composedRefs"]
    [name] = [reference["name"] for reference in references if reference["kind"] == kind.kind]
    return await s.until(kind, name, READY)


async def test_a_mysqlinstance_consists_of_resources_that_refer_to_one_another(platform, s):
    await apply(s.client, MYSQL / "xr.yaml")
    sql = await s.until(INSTANCE, "sql", READY)
    group = await composed(s, sql, GROUP, "infrastructure")
    server = await composed(s, sql, SERVER, "infrastructure")
    rule = await composed(s, sql, RULE, "infrastructure")
    assert group["spec"]["location"] == "West US"
    assert server["spec"]["forProvider"]["resourceGroupName"] == group["metadata"]["name"]
    assert server["spec"]["forProvider"]["storageProfile"]["storageMB"] == 10240
    assert rule["spec"]["serverName"] == server["metadata"]["name"]
    assert rule["spec"]["properties"]["virtualNetworkSubnetId"].endswith("/sample-subnet")
    secret = await s.client.get(SECRET, "sql", "crossplane-system")
    assert secret is not None
    assert set(details(secret)) == {"username", "password", "endpoint"}
    await s.client.delete(INSTANCE, "sql")
    for kind, obj in ((GROUP, group), (SERVER, server), (RULE, rule)):
        await s.until_gone(kind, obj["metadata"]["name"])


async def test_a_requirement_is_met_by_a_mysqlinstance_of_its_own(platform, s):
    home = Scenario(s.client, "default")
    await apply(s.client, WORDPRESS / "requirement.yaml")
    requirement = await home.until(REQUIREMENT, "sql", READY)
    sql = await s.until(INSTANCE, sql_name(requirement), READY)
    assert engine(sql)["requirementRef"]["namespace"] == "default"
    copy = await home.until(SECRET, "sql", lambda secret: secret.get("data"))
    place = engine(sql)["writeConnectionSecretToRef"]
    original = await s.client.get(SECRET, place["name"], place["namespace"])
    assert original is not None
    assert details(copy) == details(original)
    await s.client.delete(REQUIREMENT, "sql", "default")
    await s.until_gone(INSTANCE, sql["metadata"]["name"])


async def test_a_wordpress_is_composed_of_a_workload_and_a_database_down_to_the_cloud(platform, s):
    home = Scenario(s.client, "default")
    await apply(s.client, WORDPRESS / "xr.yaml")
    blog = await home.until(APPLICATION, "coolblog", READY)
    assert blog["spec"]["application"]["compositionRef"] == {"name": "wordpress-kubernetes-mysql"}
    requirement = await composed(home, blog, REQUIREMENT, "application")
    await composed(home, blog, WORKLOAD, "application")
    sql = await s.until(INSTANCE, sql_name(requirement), READY)
    server = await composed(s, sql, SERVER, "infrastructure")
    assert server["spec"]["forProvider"]["storageProfile"]["storageMB"] == 2048
    secret = await home.until(SECRET, "coolblog-sql", lambda secret: secret.get("data"))
    assert details(secret)["endpoint"].startswith(server["metadata"]["name"])
    # An edit goes all the way down.
    await s.client.patch_merge(APPLICATION, "coolblog", {"spec": {"storageSize": 4}}, "default")
    await s.until(SERVER, server["metadata"]["name"], storage_is(4096))
    await s.client.delete(APPLICATION, "coolblog", "default")
    await home.until_gone(APPLICATION, "coolblog")
    await s.until_gone(INSTANCE, sql["metadata"]["name"])
    await s.until_gone(SERVER, server["metadata"]["name"])


def storage_is(megabytes):
    return lambda server: server["spec"]["forProvider"]["storageProfile"]["storageMB"] == megabytes
