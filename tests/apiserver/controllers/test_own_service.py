"""The Service that leads to the server itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crossply.apiserver.controllers import kubernetes_service as own_service
from crossply.apiserver.controllers.kubernetes_service import ensure_service, keep_service
from crossply.apiserver.endpoints.status_errors import internal_error
from crossply.apiserver.server_context import NoAdmission
from crossply.apiserver.stored_object_codec import decode
from tests.support.apiserver.store_bench import Bench, bench


def _service(client: Bench) -> dict[str, Any]:
    result = client.get("services", "default", "kubernetes")
    assert result is not None
    return result


async def test_the_service_is_created_as_kubernetes_creates_it() -> None:
    async with bench() as client:
        await ensure_service(client.context, "127.0.0.1", 6443)
        service = _service(client)
        assert service["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
        assert service["spec"] == {
            "clusterIP": "10.96.0.1",
            "clusterIPs": ["10.96.0.1"],
            "internalTrafficPolicy": "Cluster",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        }
        assert [item["manager"] for item in service["metadata"]["managedFields"]] == ["kube-apiserver"]


async def test_a_new_port_is_published_and_foreign_fields_stay() -> None:
    async with bench() as client:
        await ensure_service(client.context, "127.0.0.1", 6443)
        await client.update("services", "default", "kubernetes", _labelled)
        await ensure_service(client.context, "127.0.0.1", 7443)
        service = _service(client)
        assert service["spec"]["ports"][0]["targetPort"] == 7443
        assert service["metadata"]["labels"]["mine"] == "kept"


async def test_nothing_is_written_when_nothing_changed() -> None:
    async with bench() as client:
        await ensure_service(client.context, "192.0.2.7", 6443)
        before = client.context.store.revision
        await ensure_service(client.context, "192.0.2.7", 6443)
        assert client.context.store.revision == before


@pytest.mark.parametrize(
    ("host", "is_published"),
    [
        ("127.0.0.1", False),  # the API refuses loopback addresses as endpoints
        ("0.0.0.0", False),  # no address in particular
        ("localhost", False),  # not an address
        ("192.0.2.7", True),
        ("2001:db8::7", True),
    ],
)
async def test_endpoints_have_a_reachable_address(host: str, is_published: bool) -> None:
    async with bench() as client:
        await ensure_service(client.context, host, 6443)
        result = client.context.store.get(("endpointslices.discovery.k8s.io", "default", "kubernetes"))
        assert (result is not None) is is_published
        if result:
            endpoints = decode(result.data)
            assert endpoints["endpoints"] == [{"addresses": [host], "conditions": {"ready": True}}]
            assert endpoints["addressType"] == ("IPv6" if ":" in host else "IPv4")


class _Busy(NoAdmission):
    """Refuses the first two writes."""

    refusals = 2

    async def validate(self, *_: Any) -> None:
        if self.refusals:
            self.refusals -= 1
            raise internal_error("the webhook is not up yet")


async def test_a_webhook_that_refuses_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_service, "_RETRY_SECONDS", 0.001)
    async with bench() as client:
        client.context.admission = _Busy()
        await asyncio.wait_for(keep_service(client.context, "127.0.0.1", 6443), 5)
        assert _service(client)["spec"]["type"] == "ClusterIP"


def _labelled(old: dict[str, Any]) -> dict[str, Any]:
    metadata = old["metadata"]
    return {**old, "metadata": {**metadata, "labels": {**metadata["labels"], "mine": "kept"}}}
