"""Requests by verb and resource, as the API server itself counts them."""

from __future__ import annotations

from collections import Counter

import pytest

from crossply.kube.client import Client
from crossply.record.prometheus_text_parser import parse

READS = frozenset({"GET", "LIST"})
STREAMS = frozenset({"WATCH", "WATCHLIST", "CONNECT"})
LEASES = "coordination.k8s.io"
REQUESTS = "apiserver_request_total"

Traffic = Counter[tuple[str, str, str]]
"""How many requests by verb, group and resource; a subresource is part of its resource."""


async def traffic(client: Client) -> Traffic:
    """All requests for objects since the server began; renewals of Leases and watches are left out."""
    counts: Traffic = Counter()
    for labels, count in await request_counts(client):
        if labels["resource"] and labels["group"] != LEASES and labels["verb"] not in STREAMS:
            name = "/".join(filter(None, (labels["resource"], labels.get("subresource", ""))))
            counts[labels["verb"], labels["group"], name] += count
    return counts


async def request_counts(client: Client) -> list[tuple[dict[str, str], int]]:
    """How many requests the API server has answered, by the labels of its metric."""
    reply = await client.request("GET", "/metrics", accept="text/plain")
    samples = parse(reply.data.decode())
    return [(dict(labels), int(n)) for (name, labels), n in samples.items() if name == REQUESTS]


def quiet_seconds(config: pytest.Config) -> int:
    """After so long without a request, nothing follows from what happened before.

    The garbage collector of a real cluster looks for new kinds every half minute, then at all their owners.
    """
    return 35 if config.getoption("--server") == "real" else 4


def writes(counted: Traffic) -> int:
    """How many of them wrote."""
    return sum(number for (verb, _, _), number in counted.items() if verb not in READS)
