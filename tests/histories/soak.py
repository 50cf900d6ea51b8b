"""One run: load and faults for some time, then every check."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import shutil
import sys
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from tests.histories.checking import Checked, check_history
from tests.histories.composites import NAMESPACE as STACKS_NAMESPACE
from tests.histories.composites import Composites
from tests.histories.connection import Connection
from tests.histories.disk import Disk
from tests.histories.history import Operation, Outcome, Verb, Violation, WatchSegment
from tests.histories.injection import Injector
from tests.histories.memory import MemoryLog
from tests.histories.plane import Plane
from tests.histories.preload import Preload
from tests.histories.schedule import Fault, Kind, make_schedule
from tests.histories.settling import SETTLE_SECONDS, check_removed, check_settled
from tests.histories.watchers import Watcher
from tests.histories.workers import NAMESPACE, Recorder, Worker

_WORKERS, _WATCHERS = 6, 3
_PROGRESS_SECONDS = 5.0
_LAST_KEY = "last"


class Settings(NamedTuple):
    """The parameters of a run."""

    seed: int
    seconds: float
    kinds: Collection[Kind]
    composites: int


class Result(NamedTuple):
    """A run without a violation."""

    checked: Checked
    settled: int


class Soak:
    """A control plane, its clients, and the faults."""

    def __init__(self, settings: Settings, scratch: pathlib.Path) -> None:
        self.recorder = Recorder()
        self.schedule: Sequence[Fault] = ()
        self._settings = settings
        self._scratch = scratch
        self._disk = Disk(scratch / "disk")
        self._preload = Preload(scratch)
        (scratch / "tmp").mkdir()
        environment = {**self._preload.environment(), "TMPDIR": str(scratch / "tmp")}
        self.plane = Plane(self._disk.directory / "data", scratch / "up.log", environment)
        self.injector = Injector(self.plane, self._disk, self._preload, self.recorder.is_answered)
        self.memory = MemoryLog(settings.seconds)
        self._connections: list[Connection] = []
        self._watchers = [
            Watcher(f"watcher-{number}", f"{settings.seed}-{number}", self._connect())
            for number in range(_WATCHERS)
        ]
        self._workers = [
            Worker(f"client-{number}", f"{settings.seed}-{number}", self._connect(), self.recorder)
            for number in range(_WORKERS)
        ]
        self._composites = Composites(self._connect(), str(settings.seed), settings.composites)

    def plan(self) -> Sequence[Fault]:
        """The schedule of faults that this machine supports; the others are printed."""
        kinds = set(self._settings.kinds)
        if kinds & {Kind.CLOCK, Kind.SLOW_DISK} and not self._preload.works():
            kinds -= {Kind.CLOCK, Kind.SLOW_DISK}
            _warn("NO CLOCK JUMPS AND NO SLOW DISK: they need gcc, and a Python that loads its library")
        if Kind.DISK_FULL in kinds and not self._disk.is_small:
            kinds -= {Kind.DISK_FULL}
            _warn("NO FULL DISK: it needs the right to mount a tmpfs (root)")
        self.schedule = make_schedule(self._settings.seed, self._settings.seconds, kinds)
        return self.schedule

    async def run(self) -> Result:
        """Everything, from the first start to the last check; raises Violation."""
        try:
            async with self._running():
                await self._prepare()
                await self._load()
                return await self._check()
        finally:
            for connection in self._connections:
                await connection.close()

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        running = asyncio.create_task(self.plane.run())
        try:
            yield
        finally:
            await self.plane.stop()
            await running

    async def _prepare(self) -> None:
        async with _within(SETTLE_SECONDS, "the first start"):
            await self.plane.ready.wait()
            for name in (NAMESPACE, STACKS_NAMESPACE):
                await self._connections[0].call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
            await self._composites.begin()

    async def _load(self) -> None:
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(watcher.run()) for watcher in self._watchers]
            while not all(watcher.segments for watcher in self._watchers):
                await asyncio.sleep(0.05)
            await self._disturb()
            async with _within(SETTLE_SECONDS, "the last write and its events"):
                await self._finish_watches()
            for task in watching:
                task.cancel()

    async def _disturb(self) -> None:
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            progress = group.create_task(self._show_progress())
            faults = group.create_task(self.injector.run(self.schedule))
            clients = [group.create_task(worker.run(stop)) for worker in self._workers]
            clients.append(group.create_task(self._composites.run(stop)))
            await asyncio.sleep(self._settings.seconds)
            faults.cancel()
            stop.set()
            async with _within(SETTLE_SECONDS, "the last requests of the clients"):
                await asyncio.gather(*clients)
            progress.cancel()

    async def _finish_watches(self) -> None:
        """A last write, which every watcher has to see, and a last list."""
        worker = self._workers[0]
        written = await self._until_done(worker, Verb.APPLY, _LAST_KEY)
        assert written.version is not None
        while any(watcher.reached < written.version.rv for watcher in self._watchers):
            await asyncio.sleep(0.1)
        await self._until_done(worker, Verb.LIST, "")

    @staticmethod
    async def _until_done(worker: Worker, verb: Verb, key: str) -> Operation:
        while True:
            operation = await worker.do(verb, key)
            if operation is not None and operation.outcome is Outcome.OK:
                return operation
            await asyncio.sleep(0.2)

    async def _check(self) -> Result:
        _say("checking the history ...")
        may_drop = bool(self.injector.injected[Kind.DISK_FULL])
        checked = await asyncio.to_thread(
            check_history, self.recorder.operations, self.segments(), may_drop=may_drop
        )
        if self.recorder.unexpected:
            raise Violation("unexpected-answer", self.recorder.unexpected[0], self.recorder.unexpected[:5])
        if self.plane.ends:
            raise Violation("api-restart", "`crossply up` ended by itself", self.plane.ends)
        _say("waiting until everything settles ...")
        async with _within(5 * SETTLE_SECONDS, "settling"):
            settled = await check_settled(self._composites, self._scratch)
            await check_removed(self._composites)
        self.memory.check_flat()
        return Result(checked, settled)

    def segments(self) -> list[WatchSegment]:
        """What all watchers saw."""
        return [segment for watcher in self._watchers for segment in watcher.segments]

    async def _show_progress(self) -> None:
        start = time.monotonic()
        while True:
            self.memory.measure(time.monotonic() - start, self.plane.processes())
            outcomes = self.recorder.outcomes
            active = ", ".join(fault.kind for fault in self.injector.active.values())
            _say(
                f"{time.monotonic() - start:4.0f} s  {len(self.recorder.operations)} operations, "
                f"{outcomes[Outcome.UNKNOWN]} unknown, {self.recorder.not_sent} not sent, "
                f"{sum(self.injector.injected.values())} faults, {self.plane.starts} starts"
                + (f"  [{active}]" if active else "")
            )
            await asyncio.sleep(_PROGRESS_SECONDS)

    def _connect(self) -> Connection:
        self._connections.append(Connection(self.plane.data))
        return self._connections[-1]

    def keep(self, directory: pathlib.Path) -> None:
        """Copy what is on the small disk to a place that stays."""
        with contextlib.suppress(OSError, shutil.Error):
            shutil.copytree(self.plane.data, directory / "data")

    def close(self) -> None:
        """Give the disk back."""
        self._disk.unmount()


@asynccontextmanager
async def _within(seconds: float, action: str) -> AsyncIterator[None]:
    """A limit for what a control plane without faults does soon."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Violation("available", f"{action} took more than {seconds:.0f} s") from None


def _say(text: str) -> None:
    print(text, flush=True)


def _warn(text: str) -> None:
    print(f"\n*** {text} ***\n", file=sys.stderr, flush=True)
