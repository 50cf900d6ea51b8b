"""A replica as a process of its own, which a test may freeze: it signs every key that it owns, over and over.

Run as `python replica.py KUBECONFIG NAMESPACE NAME KEYS`.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.kind import Kind
from crossply.kube.leases import Timing
from crossply.kube.shards import Shards

CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)
COUNT = 16
QUICK = Timing(renew=0.3, fence=0.7, lease=1.0)


async def sign(client: Client, shards: Shards, namespace: str, name: str, keys: list[str]) -> None:
    turn = 0
    while True:
        for key in filter(shards.owns, keys):
            turn += 1
            with contextlib.suppress(CrossplyError):
                guarded = client.guarded(shards.guard(key))
                await guarded.patch_merge(
                    CONFIG_MAP, key, {"data": {"by": name, "turn": str(turn)}}, namespace
                )
        await asyncio.sleep(0.01)


async def main(kubeconfig: str, namespace: str, name: str, keys: list[str]) -> None:
    async with Client(load_config(kubeconfig)) as client:
        shards = Shards(client, namespace=namespace, count=COUNT, replica=name, timing=QUICK)
        await asyncio.gather(shards.run(), sign(client, shards, namespace, name, keys))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4].split(",")))
