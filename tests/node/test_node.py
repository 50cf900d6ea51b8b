"""On a Kubernetes that runs Pods: the controllers as the chart installs them, a function as a Deployment."""

from __future__ import annotations

import asyncio
import secrets

import orjson
import pytest

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.kind import Kind
from crossply.kube.lease_objects import LEASE
from tests.support.e2e.scenario import EVENT, FUNCTION, Scenario, condition
from tests.support.e2e.things import READY, SYNCED, Things
from tests.support.node import images
from tests.support.node.cluster import REGISTRY

HOME = "crossplane-system"
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", True)
POD = Kind("", "v1", "Pod", "pods", True)
REVISION = Kind("pkg.crossplane.io", "v1", "FunctionRevision", "functionrevisions", False)
RUNTIME_CONFIG = Kind(
    "pkg.crossplane.io", "v1beta1", "DeploymentRuntimeConfig", "deploymentruntimeconfigs", False
)
PATIENCE = 240.0
FUNCTION_NAME = "function-tell"


def play(node, scenario):
    async def connected():
        async with Client(load_config(node.kubeconfig)) as client, asyncio.timeout(PATIENCE):
            await eventually(lambda: is_available(client, "crossply"))
            s = await Scenario.begin(client, f"t{secrets.token_hex(4)}")
            await scenario(s)
            await s.end()

    asyncio.run(connected())


async def eventually(read):
    """What `look` finds, once it finds anything; whatever goes wrong until then may be mended."""
    while True:
        try:
            result = await read()
        except Exception:  # noqa: BLE001 - a starting cluster raises all kinds of errors
            result = None
        if result:
            return result
        await asyncio.sleep(0.2)


async def is_available(client, name, replicas=None):
    live = await client.get(DEPLOYMENT, name, HOME)
    ready = (live.get("status") or {}).get("readyReplicas", 0)
    return live if ready >= (replicas or live["spec"]["replicas"]) else None


async def pods(client, selector):
    listed = await client.list(POD, HOME, label_selector=selector)
    return [orjson.loads(data) for data in listed.items]


async def install_function(s, version, replicas=2, **spec):
    """Install a version of the function; its current revision, once it is healthy."""
    body = {
        "apiVersion": FUNCTION.api_version,
        "kind": "Function",
        "metadata": {"name": FUNCTION_NAME, "labels": {"version": version}},
        "spec": {
            "package": f"{REGISTRY}/function-tell:{version}",
            "runtimeConfigRef": {"name": "tell"},
            "revisionHistoryLimit": 3,
            **spec,
        },
    }
    config = {"deploymentTemplate": {"spec": {"replicas": replicas, "selector": {}, "template": {}}}}
    await s.client.apply(
        RUNTIME_CONFIG,
        {
            "apiVersion": RUNTIME_CONFIG.api_version,
            "kind": RUNTIME_CONFIG.kind,
            "metadata": {"name": "tell"},
            "spec": config,
        },
        "test",
    )
    await s.client.apply(FUNCTION, body, "test")
    healthy = condition("Healthy", "True")

    async def installed():
        live = await s.client.get(FUNCTION, FUNCTION_NAME)
        status = live.get("status") or {}
        current = status.get("currentIdentifier") == body["spec"]["package"]
        return status.get("currentRevision") if current and healthy(live) else None

    return await eventually(installed)


async def composed_data(things, name):
    [composed] = (await things.composed(await things.get(name))).values()
    return composed["data"]


async def makers(things, prefix, number):
    """The replicas that reconciled a number of composite resources, one after the other."""
    names = set()
    for index in range(number):
        name = f"{prefix}{index}"
        await things.apply(name)
        await things.until(name, SYNCED, READY)
        names.add((await composed_data(things, name))["pod"])
    return names


async def no_call_failed(s):
    """Whether no event of this scenario speaks of a function that could not be called."""
    events = [orjson.loads(data) for data in (await s.client.list(EVENT, s.id)).items]
    messages = [event["message"] for event in events if event["type"] == "Warning"]
    return [message for message in messages if "Function" in message] == []


STEP = {"step": "tell", "functionRef": {"name": FUNCTION_NAME}}


@pytest.fixture(scope="module", autouse=True)
def pushed(node):
    for version in ("v1", "v2"):
        node.push(images.function(version), f"function-tell:{version}")


def test_two_pods_of_the_controllers_share_the_work(node):
    async def scenario(s):
        async def lease_holders():
            leases = [orjson.loads(data) for data in (await s.client.list(LEASE, HOME)).items]
            shards = [lease for lease in leases if "-shard-" in lease["metadata"]["name"]]
            identities = {lease["spec"].get("holderIdentity") for lease in shards}
            return identities if len(identities) == 2 and all(identities) else None

        identities = await eventually(lease_holders)
        running = {pod["metadata"]["name"] for pod in await pods(s.client, "app.kubernetes.io/name=crossply")}
        assert {identity.rpartition("-")[0] for identity in identities} == running
        things = await Things.defined(s)
        await things.compose(s.config_map())
        for number in range(8):
            await things.apply(f"x{number}")
        for number in range(8):
            await things.until(f"x{number}", SYNCED, READY)

    play(node, scenario)


def test_calls_of_a_function_are_spread_and_a_pod_that_is_killed_costs_no_reconcile(node):
    async def scenario(s):
        revision = await install_function(s, "v1")
        await eventually(lambda: is_available(s.client, revision, 2))
        things = await Things.defined(s)
        await things.compose(STEP)
        running = {
            pod["metadata"]["name"] for pod in await pods(s.client, f"pkg.crossplane.io/revision={revision}")
        }
        assert len(running) == 2
        # Each of the two controllers has both lines shortly after its first call.
        composers = await makers(things, "w", 30)
        assert composers <= running
        by = [composer for number in range(12) for composer in await makers(things, f"a{number}-", 1)]
        assert all(by.count(pod) >= 3 for pod in running), "both replicas are called, in turn"
        await s.client.delete(POD, by[0], HOME)
        for number in range(12):
            await things.apply(f"b{number}")
        for number in range(12):
            await things.until(f"b{number}", SYNCED, READY)
        assert await no_call_failed(s)
        await eventually(lambda: is_available(s.client, revision, 2))

    play(node, scenario)


def test_an_upgrade_and_two_active_revisions(node):
    async def scenario(s):
        old = await install_function(s, "v1", activeRevisionLimit=2)
        things = await Things.defined(s)
        await things.compose(STEP)
        await things.apply("a")
        await things.until("a", SYNCED, READY)
        assert (await composed_data(things, "a"))["version"] == "v1"
        new = await install_function(s, "v2", activeRevisionLimit=2)
        assert new != old

        async def is_new():
            return (await composed_data(things, "a"))["version"] == "v2"

        await eventually(is_new)
        for revision in (old, new):
            await eventually(lambda revision=revision: is_available(s.client, revision))
            live = await s.client.get(REVISION, revision)
            assert live["spec"]["desiredState"] == "Active"
            assert live["status"]["endpoint"] == f"dns:///{revision}.{HOME}:9443"
        # Back to the old one for those that ask for it.
        await things.compose({**STEP, "functionRevisionRef": {"name": old}})

        async def is_old():
            return (await composed_data(things, "a"))["version"] == "v1"

        await eventually(is_old)
        assert await no_call_failed(s)

    play(node, scenario)
