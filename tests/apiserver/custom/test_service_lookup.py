"""Where services are found."""

from __future__ import annotations

import pytest

from crossply.apiserver.apiextensions.service_lookup import service_lookup
from crossply.apiserver.apiextensions.webhook_converter import Address
from crossply.apiserver.endpoints.body_decoding import encode
from crossply.apiserver.storage import Store
from crossply.values import Object

PORTS = [{"name": "web", "port": 443}]
SUBSETS = [{"addresses": [{"ip": "10.0.0.7"}], "ports": [{"name": "web", "port": 9443}]}]


@pytest.mark.parametrize(
    ("service", "endpoints", "expected", "reason"),
    [
        (None, {}, None, "no such service"),
        ({"type": "ExternalName", "externalName": "host"}, {}, Address("host", 443), "it is elsewhere"),
        ({"ports": PORTS}, {"subsets": SUBSETS}, Address("10.0.0.7", 9443), "behind its endpoint"),
        ({"ports": PORTS}, {}, None, "nobody behind it"),
        ({"ports": [{"port": 80}]}, {"subsets": SUBSETS}, None, "not on that port"),
    ],
)
async def test_a_service_is_looked_up(
    service: Object | None, endpoints: Object, expected: Address | None, reason: str
) -> None:
    store = await Store.open(None)
    if service is not None:
        await store.write(("services", "n", "s"), None, lambda _: encode({"spec": service}))
    await store.write(("endpoints", "n", "s"), None, lambda _: encode(endpoints))
    assert service_lookup(store)("n", "s", 443) == expected, reason
    await store.close()
