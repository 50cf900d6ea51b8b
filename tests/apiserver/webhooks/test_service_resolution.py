"""Where the Services of webhooks are reached."""

from __future__ import annotations

import pytest

from crossply.apiserver.storage import Store
from crossply.apiserver.stored_object_codec import encode
from crossply.apiserver.webhooks.service_resolution import ServiceUnreachable, stored_services
from crossply.values import Object

PORTS = [{"name": "web", "port": 443}]
SUBSETS = [{"addresses": [{"ip": "10.0.0.7"}], "ports": [{"name": "web", "port": 9443}]}]
IPV6 = [{"addresses": [{"ip": "fd00::7"}], "ports": [{"name": "web", "port": 9443}]}]


async def resolved(service: Object | None, endpoints: Object) -> str:
    store = await Store.open(None)
    try:
        if service is not None:
            await store.write(("services", "n", "s"), None, lambda _: encode({"spec": service}))
        await store.write(("endpoints", "n", "s"), None, lambda _: encode(endpoints))
        return stored_services(store)("n", "s", 443)
    finally:
        await store.close()


@pytest.mark.parametrize(
    ("service", "endpoints", "expected", "reason"),
    [
        ({"type": "ExternalName", "externalName": "host"}, {}, "host:443", "it is elsewhere"),
        ({"ports": PORTS}, {"subsets": SUBSETS}, "10.0.0.7:9443", "behind its endpoint"),
        ({"ports": PORTS}, {"subsets": IPV6}, "[fd00::7]:9443", "an IPv6 address is in brackets"),
        (
            {"ports": PORTS, "clusterIP": "10.96.0.9"},
            {},
            "10.96.0.9:443",
            "without endpoints, its cluster IP",
        ),
        ({"ports": PORTS, "clusterIP": "fd00::9"}, {}, "[fd00::9]:443", "the same with IPv6"),
    ],
)
async def test_a_service_is_resolved(service: Object, endpoints: Object, expected: str, reason: str) -> None:
    assert await resolved(service, endpoints) == expected, reason


@pytest.mark.parametrize(
    ("service", "endpoints", "message"),
    [
        (None, {}, 'service "s" not found'),
        ({"ports": PORTS}, {}, 'no endpoints available for service "s"'),
        ({"ports": PORTS, "clusterIP": "None"}, {}, 'no endpoints available for service "s"'),
        ({"ports": [{"port": 80}]}, {"subsets": SUBSETS}, 'no service port 443 found for service "s"'),
    ],
)
async def test_a_service_that_leads_nowhere_is_named(
    service: Object | None, endpoints: Object, message: str
) -> None:
    with pytest.raises(ServiceUnreachable) as refused:
        await resolved(service, endpoints)
    assert str(refused.value) == message
