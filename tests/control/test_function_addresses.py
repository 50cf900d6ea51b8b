"""Where the replicas of a function are, by the EndpointSlices of its Service."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from crossply.control.runtimes.function_pod_addresses import SERVICE_NAME, FunctionAddresses
from crossply.functions.channels import NOWHERE
from crossply.kube.core_kinds import ENDPOINT_SLICE
from crossply.kube.shared_informers import SharedInformers

pytestmark = pytest.mark.xdist_group("packages")


def slice_of(ns, name, *endpoints, service="fn", kind="IPv4", ports=((9443, "grpc"),)):
    return {
        "apiVersion": ENDPOINT_SLICE.api_version,
        "kind": ENDPOINT_SLICE.kind,
        "metadata": {"name": name, "namespace": ns, "labels": {SERVICE_NAME: service}},
        "addressType": kind,
        "ports": [{"port": port, "name": called, "protocol": "TCP"} for port, called in ports],
        "endpoints": [
            {"addresses": [address], "conditions": {} if ready is None else {"ready": ready}}
            for address, ready in endpoints
        ],
    }


async def until(read, expected):
    async with asyncio.timeout(20):
        while read() != expected:
            await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def function_addresses(client, ns):
    async with SharedInformers(client) as caches:
        addresses = FunctionAddresses(ns)
        yield addresses, lambda: addresses.watch(caches)


async def test_all_replicas_that_are_ready_are_called_and_the_certificate_is_that_of_the_service(client, ns):
    async with function_addresses(client, ns) as (addresses, start):
        ready = (("10.0.0.2", True), ("10.0.0.3", False), ("10.0.0.1", None))
        await client.create(ENDPOINT_SLICE, slice_of(ns, "a", *ready))
        await start()
        address = addresses.where(f"dns:///fn.{ns}:9443")()
        assert address.target == "ipv4:10.0.0.1:9443,10.0.0.2:9443", "not known counts as ready"
        assert address.authority == f"fn.{ns}"


async def test_replicas_that_come_and_go_are_noticed_in_all_slices(client, ns):
    async with function_addresses(client, ns) as (addresses, start):
        await start()
        resolve = addresses.where(f"dns:///fn.{ns}:9443")
        assert resolve() == NOWHERE
        await client.create(ENDPOINT_SLICE, slice_of(ns, "a", ("10.0.0.1", True)))
        await client.create(ENDPOINT_SLICE, slice_of(ns, "b", ("10.0.0.2", True)))
        await until(lambda: resolve().target, "ipv4:10.0.0.1:9443,10.0.0.2:9443")
        await client.delete(ENDPOINT_SLICE, "a", ns)
        await until(lambda: resolve().target, "ipv4:10.0.0.2:9443")
        await client.apply(ENDPOINT_SLICE, slice_of(ns, "b", ("10.0.0.2", False)), "test")
        await until(resolve, NOWHERE)


async def test_addresses_of_six_bytes_and_more(client, ns):
    async with function_addresses(client, ns) as (addresses, start):
        await client.create(ENDPOINT_SLICE, slice_of(ns, "a", ("fd00::1", True), kind="IPv6"))
        await start()
        assert addresses.where(f"dns:///fn.{ns}:9443")().target == "ipv6:[fd00::1]:9443"


@pytest.mark.parametrize(
    ("endpoint", "why"),
    [
        ("dns:///fn.elsewhere:9443", "it is in another namespace"),
        ("localhost:9443", "somebody gave the address"),
        ("dns:///fn.example.org:9443", "it is no Service"),
        ("container:///fn-1", "it is no address at all"),
    ],
)
def test_other_endpoints_are_left_to_grpc(endpoint, why):
    assert FunctionAddresses("home").where(endpoint) is None, why
