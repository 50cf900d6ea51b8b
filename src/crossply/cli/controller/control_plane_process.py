"""Runs a control plane until it is stopped, for `up` and `controller`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager

from crossply.cli.controller.observability_flags import reachable_host
from crossply.cli.framework.command import Flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import Event

    from crossply.control.control_plane import ControlPlane

HEALTH_PROBE_PORT = Flag(
    "health-probe-port",
    "The port of /healthz and /readyz: on all addresses in a cluster, elsewhere on loopback. 0 disables it.",
    kind="int",
    default=8081,
    placeholder="8081",
)


async def unless_stopped(stopped: Event, work: Coroutine[object, object, None]) -> bool:
    """Run the work until it ends or is stopped; returns whether it ended."""
    import asyncio

    task, stop = asyncio.ensure_future(work), asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait({task, stop}, return_when="FIRST_COMPLETED")
        if task.done():
            task.result()
        return task.done()
    finally:
        for pending in (task, stop):
            pending.cancel()
        await asyncio.gather(task, stop, return_exceptions=True)


async def run_plane(
    plane: ControlPlane, stopped: Event, ready: Callable[[], None], *others: Awaitable[object]
) -> None:
    """Run until stopped, or until one of the others ends. Work in progress is finished."""
    import asyncio

    from crossply.values.cycle_collector import collect_seldom

    starting = asyncio.ensure_future(plane.start())
    ends = [asyncio.ensure_future(awaitable) for awaitable in (stopped.wait(), *others)]
    try:
        await asyncio.wait({starting, *ends}, return_when="FIRST_COMPLETED")
        if starting.done():
            starting.result()
            collect_seldom()
            ready()
            ends.append(asyncio.ensure_future(plane.wait_stopped()))
            done, _ = await asyncio.wait(ends, return_when="FIRST_COMPLETED")
            for task in done:
                task.result()
    finally:
        for task in (starting, *ends):
            task.cancel()
        await asyncio.gather(starting, *ends, return_exceptions=True)
        await plane.stop()


@asynccontextmanager
async def probes_served(
    port: int, is_ready: Callable[[], bool], reason: Callable[[], str] | None = None
) -> AsyncIterator[None]:
    """Serve health and readiness probes; a port that is in use is only logged."""
    import logging
    from contextlib import AsyncExitStack

    from crossply.record.http_pages import probes, starting

    host = reachable_host()
    async with AsyncExitStack() as stack:
        if port:
            try:
                await stack.enter_async_context(probes(host, port, is_ready, reason or starting))
            except OSError as problem:
                message = "cannot serve probes on port %d: %s"
                logging.getLogger("crossply.control").warning(message, port, problem.strerror or problem)
        yield
