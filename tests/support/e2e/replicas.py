"""Replicas of the controllers as processes of their own, each behind a witness of what it writes."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator

from crossply.kube.config import ClusterConfig
from tests.support.e2e.write_recorder import Witness

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
LEASE_SECONDS = 8.0
"""Short, but not so short that a busy machine cannot keep up."""
_FLAGS = ("--metrics-port=0", "--health-probe-port=0", "--enable-webhooks=false")


class Replica:
    """One running controller."""

    def __init__(self, process: Process, witness: Witness) -> None:
        self.process, self.witness = process, witness

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it by a signal; how it ended."""
        if self.process.returncode is None:
            self.send(number)
            self.send(signal.SIGCONT)
        return await asyncio.wait_for(self.process.wait(), 30)


class Replicas:
    """All that work for one API server."""

    def __init__(self, config: ClusterConfig, directory: pathlib.Path, stack: contextlib.AsyncExitStack):
        self._config, self._directory, self._stack = config, directory, stack

    async def start(self, name: str) -> Replica:
        """A replica that has started; its part of the work it gets soon after."""
        witness = await self._stack.enter_async_context(Witness(self._config).listening())
        kubeconfig = self._directory / f"{name}.kubeconfig"
        kubeconfig.write_bytes(witness.kubeconfig())
        log = self._directory / f"{name}.log"
        words = ["controller", "--kubeconfig", str(kubeconfig), "--replica", name]
        words += [f"--lease-duration={LEASE_SECONDS}s", *_FLAGS]
        with open(log, "w") as errors:
            process = await asyncio.create_subprocess_exec(CROSSPLY, *words, stdout=PIPE, stderr=errors)
        replica = Replica(process, witness)
        # Politely: its part is then free for the replicas of the next scenario.
        self._stack.push_async_callback(replica.end)
        assert process.stdout is not None
        assert await process.stdout.readline() == b"control plane ready\n", log.read_text()
        return replica


@contextlib.asynccontextmanager
async def replicas_of(config: ClusterConfig, directory: pathlib.Path) -> AsyncIterator[Replicas]:
    """None at first; all that were started are gone afterwards."""
    async with contextlib.AsyncExitStack() as stack:
        yield Replicas(config, directory, stack)
