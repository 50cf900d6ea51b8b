"""Functions as Deployments, from a package in a registry to composed resources.

There are no nodes. A stand-in does what a kubelet would: it serves the function with the certificate of the
Secret that the Deployment mounts, at an address of this machine, and says so in an EndpointSlice.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import secrets
import socket
import tempfile
from collections.abc import Iterator

import pytest

from crossply.functions.server import FunctionServer, ServerSettings
from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig, load_config
from crossply.kube.kind import Kind
from tests.api.servers import embedded
from tests.e2e.conftest import FLAGS, running
from tests.e2e.packages import telling
from tests.e2e.packaging import FUNCTION, HEALTHY, Shelf
from tests.e2e.scenario import PATIENCE, SECRET, Scenario, condition
from tests.e2e.things import READY, SYNCED, Things
from tests.programs import needs
from tests.xpkg.peers import docker_registry

pytestmark = [
    needs("docker-registry"),
    pytest.mark.xdist_group("packages"),
]
HOME = "crossplane-system"
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", True)
SLICE = Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", True)
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
def play_there(cluster, registry):
    """Play a scenario that is given what it has in the registry."""

    def run(scenario):
        async def connected():
            async with Client(cluster) as client, asyncio.timeout(3 * PATIENCE):
                s = await Scenario.begin(client, f"t{secrets.token_hex(4)}")
                async with Kubelet.at_work(s) as kubelet:
                    await scenario(s, Shelf(s, registry), kubelet)
                await s.end()

        asyncio.run(connected())

    return run


def own_address() -> str:
    """An address of this machine that is not its own only: EndpointSlices have no others."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("10.255.255.255", 1))  # nothing is sent
        except OSError:
            pytest.skip("NO FUNCTION IS CALLED AS A DEPLOYMENT: this machine has no address but its own")
        return str(probe.getsockname()[0])


class Kubelet:
    """Serves what Deployments would run."""

    def __init__(self, s: Scenario, stack: contextlib.ExitStack) -> None:
        self.s, self._stack = s, stack
        self._address = own_address()

    @classmethod
    @contextlib.asynccontextmanager
    async def at_work(cls, s: Scenario):
        with contextlib.ExitStack() as stack:
            yield cls(s, stack)

    async def run(self, revision: str, function) -> FunctionServer:
        """One Pod of a revision, once there is a Deployment for it."""
        deployment = await self.s.eventually(lambda: self.s.client.get(DEPLOYMENT, revision, HOME))
        [volume] = deployment["spec"]["template"]["spec"]["volumes"]
        secret = await self.s.client.get(SECRET, volume["secret"]["secretName"], HOME)
        directory = self._stack.enter_context(tempfile.TemporaryDirectory())
        for name, content in secret["data"].items():
            with open(f"{directory}/{name}", "wb") as file:
                file.write(base64.b64decode(content))
        server = FunctionServer("pod", function, ServerSettings(f"{self._address}:0", certificates=directory))
        self._stack.callback(server.stop)
        return server

    async def show(self, service: str, *servers: FunctionServer) -> None:
        """Say where the Pods behind a Service are; all of them listen on their own port, so in slices."""
        for number in range(3):
            name = f"{service}-{number}"
            if number >= len(servers):
                await self.s.client.delete(SLICE, name, HOME)
                continue
            await self.s.client.apply(
                SLICE,
                {
                    "apiVersion": SLICE.api_version,
                    "kind": SLICE.kind,
                    "metadata": {
                        "name": name,
                        "namespace": HOME,
                        "labels": {"kubernetes.io/service-name": service},
                    },
                    "addressType": "IPv4",
                    "ports": [{"name": "grpc", "port": servers[number].port, "protocol": "TCP"}],
                    "endpoints": [{"addresses": [self._address], "conditions": {"ready": True}}],
                },
                "kubelet",
            )

    async def say_available(self, name: str) -> None:
        live = await self.s.client.get(DEPLOYMENT, name, HOME)
        said = {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}
        status = {"conditions": [said]}
        await self.s.client.update_status(DEPLOYMENT, {**live, "status": status})


def counting(who: str, calls: list[str]):
    """A function that says by whom a ConfigMap was made, and counts."""
    tell = telling(who)

    def function(request):
        calls.append(who)
        return tell(request)._replace(ttl=0)

    return function


async def made_by(things: Things, name: str) -> str:
    [made] = (await things.composed(await things.get(name))).values()
    return made["data"]["by"]


def test_a_function_runs_as_a_deployment_is_upgraded_and_loses_a_pod(play_there):
    async def scenario(s: Scenario, shelf: Shelf, kubelet: Kubelet):
        await shelf.push("function-tell:v1", "Function")
        function = await shelf.install(FUNCTION, "function-tell:v1", revisionHistoryLimit=2)
        revision = await shelf.revision(FUNCTION, function, condition("RevisionHealthy", "True"))
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
        assert await made_by(things, "a") == "one"
        # A Pod goes away: it is told, ends its calls, and is gone.
        await kubelet.show(name, pods[1])
        await asyncio.to_thread(pods[0].stop)
        await things.apply("b")
        await things.until("b", SYNCED, READY)
        # An upgrade: the old revision serves until the new one can.
        await shelf.push("function-tell:v2", "Function", crossplane={"version": ">=v1.0.0"})
        await shelf.install(FUNCTION, "function-tell:v2", revisionHistoryLimit=2)

        async def is_another():
            found = await shelf.revision(FUNCTION, function)
            return found if found["metadata"]["name"] != name else None

        new = (await s.eventually(is_another))["metadata"]["name"]
        pod = await kubelet.run(new, counting("two", calls))
        await things.apply("c")
        await things.until("c", SYNCED, READY)
        await kubelet.show(new, pod)
        await kubelet.say_available(new)
        await s.until(FUNCTION, function, HEALTHY)
        await things.apply("d")
        await things.until("d", SYNCED, READY)
        assert await made_by(things, "d") == "two"

    play_there(scenario)
