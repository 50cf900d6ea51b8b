"""Keeps one program running: starts it, and starts it again with growing pauses when it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

from crossply.containers.log_file import LogFile
from crossply.errors import CrossplyError
from crossply.values.backoff import pause_after


class RunningProgram(Protocol):
    """A program that was started."""

    @property
    def says_when_ready(self) -> bool:
        """Whether it has shown that it says when it is ready; most programs never do."""
        ...

    async def ready(self) -> None:
        """Wait until it says that it is ready."""
        ...

    async def wait(self) -> str:
        """Wait until it ends; returns how, as a sentence."""
        ...

    async def stop(self) -> None:
        """Ask it to end, then make it end."""
        ...


class Program(Protocol):
    """What is run. Two that are equal need not be exchanged for each other."""

    webhook_port: int
    """The port of this machine that leads to its webhooks, once it was started."""
    network_problem: str
    """Why it has no network of its own, although it was to have one; empty where it has."""

    async def start(self, log: LogFile) -> RunningProgram:
        """Start it; what it writes goes to the log. Raises a CrossplyError where it cannot be started."""
        ...

    def changed(self) -> str:
        """Which of its files changed since the last time that this was asked; empty for none."""
        ...


class Pauses(NamedTuple):
    """All in seconds."""

    first: float = 0.25
    longest: float = 60.0
    steady: float = 60.0
    """After a program ran for so long, an end counts as the first one again."""
    settled: float = 3.0
    """A program that ran for so long is taken to run, unless it says itself when it is ready.

    After a failure it has to run half as long again as it did before it failed.
    """
    longest_settled: float = 15.0
    poll: float = 1.0
    """Between two looks at the files of the program."""


class Supervisor:
    """One program, and the runs of it."""

    def __init__(
        self,
        program: Program,
        log: LogFile,
        report: Callable[[], None],
        pauses: Pauses = Pauses(),  # noqa: B008 - it is immutable
    ) -> None:
        """`report` is called whenever `problem` changes."""
        self.program = program
        self.problem = "it is being started"
        """Why it does not run; empty where it does."""
        self._log, self._report, self._pauses = log, report, pauses
        self._running: RunningProgram | None = None
        self._failures = 0
        """In a row, none of them after a long run."""
        self._last_run = 0.0
        """How long it ran before it failed, in seconds."""
        self._judged = asyncio.Event()
        self._task = asyncio.create_task(self._supervise())

    async def judged(self, timeout: float) -> None:
        """Wait until it is known for the first time whether it runs, at most so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._judged.wait()

    async def stop(self) -> None:
        """End it for good."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        running, self._running = self._running, None
        if running is not None:
            await running.stop()
            self._log.note("stopped")

    async def _supervise(self) -> None:
        while True:
            began = time.monotonic()
            reason = await self._run_once()
            self._last_run = time.monotonic() - began
            if self._last_run > self._pauses.steady:
                self._failures, self._last_run = 0, 0.0
            if not reason:
                self._last_run = 0.0
                continue
            self._failures += 1
            delay = pause_after(self._failures, self._pauses.first, self._pauses.longest)
            tail = self._log.tail()
            restart = f"it is started again in {delay:g} s"
            self._log.note(f"{reason}; {restart}")
            self._say(f"{reason}, {restart}{tail}")
            await asyncio.sleep(delay)

    async def _run_once(self) -> str:
        """Run it until it ends; returns how it ended, or nothing where it is to be started at once."""
        try:
            running = await self._start()
        except (CrossplyError, OSError) as problem:
            return f"it cannot be started: {problem}"
        exit_task = asyncio.create_task(running.wait())
        try:
            return await self._run_until_exit(running, exit_task)
        finally:
            exit_task.cancel()
            with suppress(asyncio.CancelledError):
                await exit_task

    async def _start(self) -> RunningProgram:
        starting = asyncio.create_task(self.program.start(self._log))
        try:
            self._running = running = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # We are stopped: `stop` ends what is just being started, too.
            with suppress(CrossplyError, OSError):
                self._running = await starting
            raise
        return running

    async def _run_until_exit(self, running: RunningProgram, exit_task: asyncio.Task[str]) -> str:
        await self._settle(running, exit_task)
        self.program.changed()
        if not exit_task.done():
            self._say("")
        while not exit_task.done():
            await asyncio.wait({exit_task}, timeout=self._pauses.poll)
            changed = self.program.changed()
            if changed and not exit_task.done():
                self._log.note(f"{changed} changed: it is restarted")
                await running.stop()
                self._running = None
                return ""
        self._running = None
        return exit_task.result()

    async def _settle(self, running: RunningProgram, exit_task: asyncio.Task[str]) -> None:
        """Wait until it counts as running, or until it has ended."""
        settled = max(self._pauses.settled, min(1.5 * self._last_run, self._pauses.longest_settled))
        ready = asyncio.create_task(running.ready())
        try:
            if not self._last_run:
                await asyncio.wait({exit_task, ready}, timeout=settled, return_when=asyncio.FIRST_COMPLETED)
            else:
                await asyncio.wait({exit_task}, timeout=settled)
            if running.says_when_ready:
                await asyncio.wait({exit_task, ready}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
            with suppress(asyncio.CancelledError):
                await ready

    def _say(self, problem: str) -> None:
        if problem != self.problem:
            self.problem = problem
            self._judged.set()
            self._report()
