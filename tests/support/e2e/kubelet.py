"""A stand-in for the kubelet: it serves the functions of Deployments at an address of this machine."""

from __future__ import annotations

import base64
import contextlib
import socket
import tempfile
from collections.abc import AsyncIterator

import pytest

from crossply.compose.function_messages import Function
from crossply.functions.server import FunctionServer, ServerSettings
from crossply.kube.kind import Kind
from tests.support.e2e.scenario import SECRET, Scenario

HOME = "crossplane-system"


DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", True)


SLICE = Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", True)


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
    async def at_work(cls, s: Scenario) -> AsyncIterator[Kubelet]:
        with contextlib.ExitStack() as stack:
            yield cls(s, stack)

    async def run(self, revision: str, function: Function) -> FunctionServer:
        """One Pod of a revision, once there is a Deployment for it."""
        deployment = await self.s.eventually(lambda: self.s.client.get(DEPLOYMENT, revision, HOME))
        [volume] = deployment["spec"]["template"]["spec"]["volumes"]
        secret = await self.s.client.get(SECRET, volume["secret"]["secretName"], HOME)
        assert secret is not None
        directory = self._stack.enter_context(tempfile.TemporaryDirectory())
        for name, content in secret["data"].items():
            with open(f"{directory}/{name}", "wb") as file:
                file.write(base64.b64decode(content))
        server = FunctionServer("pod", function, ServerSettings(f"{self._address}:0", certificates=directory))
        self._stack.callback(server.stop)
        return server

    async def show(self, service: str, *servers: FunctionServer) -> None:
        """Set the addresses of the Pods behind a Service; each listens on its own port, so in slices."""
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
        assert live is not None
        condition = {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}
        status = {"conditions": [condition]}
        await self.s.client.update_status(DEPLOYMENT, {**live, "status": status})
