"""Carrying out a schedule of faults on a running control plane."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence

from tests.histories.disk import Disk
from tests.histories.plane import Life, Plane, send
from tests.histories.preload import Preload
from tests.histories.schedule import Fault, Kind

_AFTERMATH_SECONDS = 5.0
"""How long after its end a fault may still have `up` end by itself."""


_TICK_SECONDS = 0.1
_SLOWED = 0.25
"""The speed of the schedule while no request succeeds: otherwise slow machines would see restarts only."""


class Injector:
    """Begins and ends faults; knows the active ones."""

    def __init__(self, plane: Plane, disk: Disk, preload: Preload, is_answering: Callable[[], bool]) -> None:
        self.active: dict[Kind, Fault] = {}
        self.injected: Counter[Kind] = Counter()
        self._plane, self._disk, self._preload = plane, disk, preload
        self._frozen: dict[Kind, int | None] = {}
        """The process to resume: the stopped one may have lost its parent since."""
        self._is_answering = is_answering
        self._elapsed = 0.0
        self._last_full = self._last_kill_of_api = 0.0
        plane.may_end = self._may_end

    async def run(self, schedule: Sequence[Fault]) -> None:
        """Every fault at its time, until cancelled or the last one has ended."""
        async with asyncio.TaskGroup() as group:
            clock = group.create_task(self._run_clock())
            faults = [group.create_task(self._inject(fault)) for fault in schedule]
            await asyncio.gather(*faults)
            clock.cancel()

    async def _run_clock(self) -> None:
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            self._elapsed += _TICK_SECONDS * (1.0 if self._is_answering() else _SLOWED)

    async def _inject(self, fault: Fault) -> None:
        while self._elapsed < fault.at:
            await asyncio.sleep(_TICK_SECONDS)
        self.active[fault.kind] = fault
        self.injected[fault.kind] += 1
        try:
            await self._begin(fault)
            await asyncio.sleep(fault.seconds)
        finally:
            self._end(fault)
            del self.active[fault.kind]

    async def _begin(self, fault: Fault) -> None:
        plane = self._plane
        match fault.kind:
            case Kind.KILL_UP:
                plane.signal_up(signal.SIGKILL)
            case Kind.KILL_API:
                self._last_kill_of_api = time.monotonic()
                plane.signal_api(signal.SIGKILL)
            case Kind.KILL_BOTH:
                plane.signal_api(signal.SIGKILL)
                plane.signal_up(signal.SIGKILL)
            case Kind.RESTART:
                plane.signal_up(signal.SIGTERM)
            case Kind.FREEZE_UP:
                self._frozen[fault.kind] = plane.signal_up(signal.SIGSTOP)
            case Kind.FREEZE_API:
                self._frozen[fault.kind] = plane.signal_api(signal.SIGSTOP)
            case Kind.CLOCK:
                self._preload.set_clock(int(fault.amount))
            case Kind.SLOW_DISK:
                self._preload.set_sync_delay(fault.amount)
            case Kind.DISK_FULL:
                await asyncio.to_thread(self._disk.fill)

    def _end(self, fault: Fault) -> None:
        match fault.kind:
            case Kind.FREEZE_UP | Kind.FREEZE_API:
                send(self._frozen.pop(fault.kind, None), signal.SIGCONT)
            case Kind.CLOCK:
                self._preload.set_clock(0)
            case Kind.SLOW_DISK:
                self._preload.set_sync_delay(0)
            case Kind.DISK_FULL:
                self._disk.empty()
                self._last_full = time.monotonic()

    def _may_end(self, life: Life) -> bool:
        """Whether `up` may end by itself: on a full disk, or when its API server is killed at the start."""
        is_full = Kind.DISK_FULL in self.active or time.monotonic() - self._last_full < _AFTERMATH_SECONDS
        return is_full or (not life.was_ready and self._last_kill_of_api > life.started)
