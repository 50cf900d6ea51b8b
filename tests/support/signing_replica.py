"""A replica as a process of its own, which a test may freeze: it signs every key that it owns, over and over.

Run as `python signing_replica.py KUBECONFIG NAMESPACE NAME KEYS`.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.kind import Kind
from crossply.kube.lease_objects import Timing
from crossply.kube.leased_shards import LeasedShards
from crossply.kube.replica_heartbeat import kernel_alarm
from crossply.kube.write_guard import NotOwner, guarded_by

CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)
COUNT = 16
QUICK = Timing.lasting(3.0)


class Signing:
    """Signs one key after the other."""

    def __init__(self, client: Client, shards: LeasedShards, namespace: str, name: str) -> None:
        self.client, self.shards, self.namespace, self.name = client, shards, namespace, name
        self.turn = 0
        self.pen = asyncio.Lock()
        shards.attach(self)

    def gained(self, shards: frozenset[int]) -> None:
        """It looks again and again anyway."""

    async def drain(self, shards: frozenset[int]) -> None:
        async with self.pen:
            """Every later signature is requested after this."""

    def abandon(self) -> None:
        """One signature takes no time."""

    async def run(self, keys: list[str]) -> None:
        while True:
            for key in keys:
                async with self.pen:
                    if self.shards.owns(key):
                        await self.sign(key)
            await asyncio.sleep(0.001)

    async def sign(self, key: str) -> None:
        self.turn += 1
        body = {"data": {"by": self.name, "turn": str(self.turn)}}
        with contextlib.suppress(CrossplyError, NotOwner), guarded_by(self.shards.guard(key)):
            await self.client.patch_merge(CONFIG_MAP, key, body, self.namespace)


async def main(kubeconfig: str, namespace: str, name: str, keys: list[str]) -> None:
    async with Client(load_config(kubeconfig), QUICK.transit) as client:
        shards = LeasedShards(
            client, namespace=namespace, count=COUNT, replica=name, timing=QUICK, watchdog=kernel_alarm
        )
        await asyncio.gather(shards.run(), Signing(client, shards, namespace, name).run(keys))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4].split(",")))
