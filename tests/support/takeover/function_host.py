"""Functions that run on this machine in place of their Pods.

There is no node, so Deployments have no Pods. Each function is served with the certificate of the Secret that
its Deployment mounts, in the state in which a Pod that was started then would have read it. An EndpointSlice
and the proxy have its address.
"""

from __future__ import annotations

import base64
import contextlib
import pathlib
from collections.abc import Callable
from typing import Any

from crossply.compose.function_messages import READY_TRUE, Resource, Response, State
from crossply.functions import builtin
from crossply.functions.server import FunctionServer, ServerSettings
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.e2e.kubelet import DEPLOYMENT, SLICE, own_address
from tests.support.e2e.scenario import SECRET
from tests.support.takeover.connect_proxy import ConnectProxy
from tests.support.takeover.crossplane_process import HOME, WEBHOOKS

SERVICE = Kind("", "v1", "Service", "services", True)
SIZE_FUNCTION = "function-tell"
BUILT_IN = ("function-patch-and-transform", "function-environment-configs")
"""Functions that Crossply has built in; here they are packages like any other."""
FUNCTIONS = (SIZE_FUNCTION, *BUILT_IN)
_PORT = 9443


def compose_size(request: Any) -> Response:
    """Compose a ConfigMap that repeats the size of the composite resource."""
    size = request.observed.composite.object["spec"].get("size", "")
    resource = Resource(
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": size, "by": SIZE_FUNCTION}},
        ready=READY_TRUE,
    )
    desired = State(request.desired.composite, {**request.desired.resources, "told": resource})
    return Response(desired, context=request.context)


def implementation(function: str) -> Callable[[Any], Response]:
    """What a function does."""
    entry = builtin.find(function)
    return compose_size if entry is None else builtin.load(entry)


class FunctionHost:
    """Serves functions until it is left."""

    def __init__(self, client: Client, proxy: ConnectProxy, directory: pathlib.Path) -> None:
        self._client, self._proxy, self._directory = client, proxy, directory
        self._stack = contextlib.ExitStack()
        self._address = own_address()
        self.calls: dict[str, int] = dict.fromkeys(FUNCTIONS, 0)
        """How often each function was called."""

    def __enter__(self) -> FunctionHost:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    async def serve(self, function: str, revision: Object) -> None:
        """Serve a revision behind its Service."""
        secret = await self._client.get(SECRET, revision["status"]["tlsServerSecretName"], HOME)
        assert secret is not None
        directory = self._directory / revision["metadata"]["name"]
        directory.mkdir()
        for name, content in secret["data"].items():
            (directory / name).write_bytes(base64.b64decode(content))
        settings = ServerSettings(f"{self._address}:0", certificates=str(directory))
        server = FunctionServer(function, self._counting(function), settings)
        self._stack.callback(server.stop)
        service = revision["status"]["endpoint"].removeprefix("dns:///").partition(".")[0]
        self._proxy.places[f"{service}.{HOME}:{_PORT}"] = (self._address, server.port)
        await self._show(service, server.port, "grpc")
        await self.say_available(revision["metadata"]["name"])

    async def show_webhooks(self, port: int) -> None:
        """Make API servers reach Crossplane's webhook server behind its Service, whose port has no name."""
        await self._show(WEBHOOKS, port, "")

    def _counting(self, function: str) -> Callable[[Any], Response]:
        run = implementation(function)

        def counted(request: Any) -> Response:
            self.calls[function] += 1
            return run(request)

        return counted

    async def _show(self, service: str, port: int, port_name: str) -> None:
        body = {
            "apiVersion": SLICE.api_version,
            "kind": SLICE.kind,
            "metadata": {
                "name": service,
                "namespace": HOME,
                "labels": {"kubernetes.io/service-name": service},
            },
            "addressType": "IPv4",
            "ports": [{"name": port_name, "port": port, "protocol": "TCP"}],
            "endpoints": [{"addresses": [self._address], "conditions": {"ready": True}}],
        }
        await self._client.apply(SLICE, body, "kubelet")

    async def say_available(self, name: str) -> None:
        """Set the status as the controller of Deployments would."""
        live = await self._client.get(DEPLOYMENT, name, HOME)
        assert live is not None
        available = {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}
        status = {"observedGeneration": live["metadata"]["generation"], "conditions": [available]}
        await self._client.update_status(DEPLOYMENT, {**live, "status": status})
