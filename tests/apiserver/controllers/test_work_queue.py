"""An item is processed by one worker at a time, once more after a failure or a new event, and never lost."""

from __future__ import annotations

import asyncio

from crossply.apiserver.controllers.workqueue import WorkQueue


async def idle(queue: WorkQueue[str]) -> None:
    while not queue.idle:
        await asyncio.sleep(0.001)


async def test_an_item_that_waits_is_handled_once() -> None:
    observed: list[str] = []

    async def handle(item: str) -> None:
        observed.append(item)

    queue = WorkQueue(handle, at_once=1)
    for item in ("a", "b", "b", "b"):
        queue.add(item)
    await idle(queue)
    assert observed == ["a", "b"]


async def test_an_item_added_while_it_is_processed_is_processed_once_more() -> None:
    running, most, calls = 0, 0, 0

    async def handle(item: str) -> None:
        nonlocal running, most, calls
        running, calls = running + 1, calls + 1
        most = max(most, running)
        if calls == 1:
            queue.add(item)
        await asyncio.sleep(0)
        running -= 1

    queue = WorkQueue(handle)
    queue.add("a")
    await idle(queue)
    assert (calls, most) == (2, 1)


async def test_a_failure_is_retried() -> None:
    calls = 0

    async def handle(_: str) -> None:
        nonlocal calls
        calls += 1
        if calls < 3:
            raise RuntimeError("not yet")

    queue = WorkQueue(handle)
    queue.add("a")
    await idle(queue)
    assert calls == 3


async def test_no_more_than_so_many_items_are_handled_at_once() -> None:
    running, most = 0, 0

    async def handle(_: str) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1

    queue = WorkQueue(handle, at_once=3)
    for number in range(20):
        queue.add(str(number))
    await idle(queue)
    assert most == 3


async def test_a_closed_queue_cancels_running_items_and_accepts_no_more() -> None:
    stopped = False

    async def handle(_: str) -> None:
        nonlocal stopped
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped = True
            raise

    queue = WorkQueue(handle)
    queue.add("a")
    await asyncio.sleep(0)
    await queue.close()
    queue.add("b")
    assert stopped
    assert queue.idle
