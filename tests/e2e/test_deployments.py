"""Functions as Deployments, from a package in a registry to composed resources.

There are no nodes. A stand-in does what a kubelet would: it serves the function with the certificate of the
Secret that the Deployment mounts, at an address of this machine, and writes an EndpointSlice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from crossply.kube.config import ClusterConfig, load_config
from tests.support.api_servers import embedded
from tests.support.control_plane import FLAGS, running
from tests.support.e2e.function_versions import marking_function
from tests.support.e2e.kubelet import Kubelet
from tests.support.e2e.packages import FUNCTION, HEALTHY, Packages
from tests.support.e2e.scenario import Scenario, condition, scenario_on
from tests.support.e2e.things import READY, SYNCED, Things
from tests.support.programs import needs
from tests.support.registry import docker_registry

pytestmark = [
    needs("docker-registry"),
    pytest.mark.xdist_group("packages"),
]
_CONTROLLERS = (
    "--shards=0",
    "--enable-webhooks=false",
    "--metrics-port=0",
    "--health-probe-port=0",
    "--function-addresses=EndpointSlices",
)


@pytest.fixture(scope="module")
def cluster(request, tmp_path_factory) -> Iterator[ClusterConfig]:
    """An API server whose controllers run packages as Deployments."""
    if request.config.getoption("--server") == "real":
        yield request.getfixturevalue("control_plane")
        return
    directory = tmp_path_factory.mktemp("deployments")
    with embedded(directory) as server:
        words = ("--kubeconfig", server.kubeconfig, "--xpkg-cache-dir", str(directory / "packages"))
        with running(directory, "controller", *words, *_CONTROLLERS, *FLAGS):
            yield load_config(server.kubeconfig)


@pytest.fixture(scope="module")
def registry(tmp_path_factory) -> Iterator[str]:
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture
async def s(cluster) -> AsyncIterator[Scenario]:
    async with scenario_on(cluster) as scenario:
        yield scenario


@pytest.fixture
def packages(s, registry) -> Packages:
    return Packages(s, registry)


@pytest.fixture
async def kubelet(s) -> AsyncIterator[Kubelet]:
    async with Kubelet.at_work(s) as running_kubelet:
        yield running_kubelet


def counting(author: str, calls: list[str]):
    """A function that writes its own name into a ConfigMap, and counts."""
    answer = marking_function(author)

    def function(request):
        calls.append(author)
        return answer(request)._replace(ttl=0)

    return function


async def author_of(things: Things, name: str) -> str:
    [config_map] = (await things.composed(await things.get(name))).values()
    return config_map["data"]["by"]


async def test_a_function_runs_as_a_deployment_is_upgraded_and_loses_a_pod(
    s: Scenario, packages: Packages, kubelet: Kubelet
):
    await packages.push("function-tell:v1", "Function")
    function = await packages.install(FUNCTION, "function-tell:v1", revisionHistoryLimit=2)
    revision = await packages.revision(FUNCTION, function, condition("RevisionHealthy", "True"))
    name = revision["metadata"]["name"]
    calls: list[str] = []
    pods = [await kubelet.run(name, counting("one", calls)) for _ in range(2)]
    await kubelet.show(name, *pods)
    await kubelet.say_available(name)
    await s.until(FUNCTION, function, HEALTHY)
    things = await Things.defined(s)
    await things.compose({"step": "tell", "functionRef": {"name": function}})
    await things.apply("a")
    await things.until("a", SYNCED, READY)
    assert await author_of(things, "a") == "one"
    # A Pod terminates: it gets SIGTERM, finishes its calls, and is gone.
    await kubelet.show(name, pods[1])
    await asyncio.to_thread(pods[0].stop)
    await things.apply("b")
    await things.until("b", SYNCED, READY)
    # An upgrade: the old revision serves until the new one can.
    await packages.push("function-tell:v2", "Function", crossplane={"version": ">=v1.0.0"})
    await packages.install(FUNCTION, "function-tell:v2", revisionHistoryLimit=2)

    async def is_another():
        revision = await packages.revision(FUNCTION, function)
        return revision if revision["metadata"]["name"] != name else None

    new = (await s.eventually(is_another))["metadata"]["name"]
    pod = await kubelet.run(new, counting("two", calls))
    await things.apply("c")
    await things.until("c", SYNCED, READY)
    await kubelet.show(new, pod)
    await kubelet.say_available(new)
    await s.until(FUNCTION, function, HEALTHY)
    await things.apply("d")
    await things.until("d", SYNCED, READY)
    assert await author_of(things, "d") == "two"
