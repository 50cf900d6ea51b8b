"""Requests by verb and resource, as the API server itself counts them."""

from __future__ import annotations

import re
from collections import Counter

from crossply.kube.client import Client

READS = frozenset({"GET", "LIST"})
STREAMS = frozenset({"WATCH", "WATCHLIST", "CONNECT"})
LEASES = "coordination.k8s.io"
_LABEL = re.compile(r'(\w+)="([^"]*)"')

Traffic = Counter[tuple[str, str, str]]
"""How many requests by verb, group and resource; a subresource is part of its resource."""


async def traffic(client: Client) -> Traffic:
    """All requests for objects since the server began; renewals of Leases and watches are left out."""
    reply = await client.request("GET", "/metrics", accept="text/plain")
    counts: Traffic = Counter()
    for line in reply.data.decode().splitlines():
        if not line.startswith("apiserver_request_total{"):
            continue
        head, _, value = line.rpartition(" ")
        labels = dict(_LABEL.findall(head))
        if labels["resource"] and labels["group"] != LEASES and labels["verb"] not in STREAMS:
            name = "/".join(filter(None, (labels["resource"], labels.get("subresource", ""))))
            counts[labels["verb"], labels["group"], name] += int(float(value))
    return counts


def writes(counted: Traffic) -> int:
    """How many of them wrote."""
    return sum(number for (verb, _, _), number in counted.items() if verb not in READS)
