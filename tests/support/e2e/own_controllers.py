"""Controllers that work alone for an API server, and reach it past a witness."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator

from tests.support.e2e.write_recorder import Witness

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
_FLAGS = ("--shards=0", "--metrics-port=0", "--health-probe-port=0", "--enable-webhooks=false")


@contextlib.asynccontextmanager
async def controllers(witness: Witness, directory: pathlib.Path, *flags: str) -> AsyncIterator[Process]:
    """The controllers of a real cluster, which reach it past a witness."""
    kubeconfig, log = directory / "kubeconfig", directory / "log"
    kubeconfig.write_bytes(witness.kubeconfig())
    with open(log, "w") as errors:
        process = await asyncio.create_subprocess_exec(
            *(CROSSPLY, "controller", "--kubeconfig", str(kubeconfig), *_FLAGS, *flags),
            stdout=PIPE,
            stderr=errors,
        )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"control plane ready\n", log.read_text()
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        await process.wait()
