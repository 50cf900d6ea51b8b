"""A container that runs continuously, as a Provider's does."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from crossply.containers.image_store import StoredImage
from crossply.containers.log_file import LogFile
from crossply.containers.settings import Settings
from crossply.control.runtimes.provider_container import ContainerProgram
from crossply.control.runtimes.supervisor import Pauses, Supervisor
from tests.support.patience import PATIENCE

QUICK = Pauses(first=0.05, longest=0.2, settled=0.3, longest_settled=0.3, poll=0.05)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)


def starts(log: Path) -> int:
    return log.read_text().count("starting its container") if log.exists() else 0


async def test_a_container_is_still_watched_when_it_counts_as_running(
    engine: str, function: StoredImage, tmp_path: Path
) -> None:
    log = tmp_path / "provider.log"
    reported: list[str] = []
    variable = f"SUPERVISED_BY={os.getpid()}-{engine}"
    program = ContainerProgram(
        function, Settings(engine=engine, environment=(variable,), arguments=("--insecure",))
    )
    supervisor = Supervisor(program, LogFile(str(log)), lambda: reported.append(supervisor.problem), QUICK)
    try:
        await until(lambda: reported == [""])
        assert starts(log) == 1
        [process] = processes_with(variable)
        os.kill(process, 9)
        await until(lambda: starts(log) == 2 and reported[-1] == "")
        assert "its container ended with signal 9, it is started again in 0.05 s" in reported[1]
    finally:
        await supervisor.stop()
    await until(lambda: not processes_with(variable))


def processes_with(variable: str) -> list[int]:
    process_ids = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if variable.encode() in (process / "environ").read_bytes().split(b"\0"):
                process_ids.append(int(process.name))
    return process_ids
