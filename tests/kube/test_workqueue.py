"""The laws of the work queue, on a clock that does not run by itself."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager

from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.kube.workqueue import Workqueue
from tests.support.fake_clock import FakeClock


def half() -> float:
    """No jitter."""
    return 0.5


@asynccontextmanager
async def at_work(queue: Workqueue, worker, concurrency: int = 3):
    task = asyncio.create_task(queue.run(worker, concurrency))
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def breathe() -> None:
    """Let everything happen that can happen without time passing."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_key_that_waits_is_worked_on_once() -> None:
    queue: Workqueue[str] = Workqueue()
    done: list[str] = []

    async def worker(key: str) -> None:
        done.append(key)

    for key in ("a", "b", "a", "a"):
        queue.add(key)
    async with at_work(queue, worker):
        await breathe()
    assert done == ["a", "b"]


async def test_a_key_added_during_work_is_processed_once_more() -> None:
    queue: Workqueue[str] = Workqueue()
    gate, runs, at_once = asyncio.Event(), 0, 0

    async def worker(key: str) -> None:
        nonlocal runs, at_once
        at_once += 1
        assert at_once == 1, "two at once"
        runs += 1
        await gate.wait()
        at_once -= 1

    queue.add("a")
    async with at_work(queue, worker):
        await breathe()
        for _ in range(100):
            queue.add("a")
        await breathe()
        assert runs == 1
        gate.set()
        await breathe()
    assert runs == 2


async def test_of_several_times_the_earliest_counts() -> None:
    clock, done = FakeClock(), []
    queue: Workqueue[str] = Workqueue(clock=clock)

    async def worker(key: str) -> None:
        done.append((key, clock.now))

    async with at_work(queue, worker):
        queue.add_after("a", 10)
        queue.add_after("a", 5)
        queue.add_after("a", 7)
        queue.add_after("b", 1)
        queue.cancel("b")
        for _ in range(20):
            clock.advance(1)
            await breathe()
    assert done == [("a", 5)]


async def test_failures_are_retried_ever_later_and_forgotten_after_a_success(caplog) -> None:
    with caplog.at_level(logging.CRITICAL, "crossply.kube"):
        clock, times, failing = FakeClock(), [], [True]
        queue: Workqueue[str] = Workqueue(clock=clock, chance=half)

        async def worker(key: str) -> None:
            times.append(clock.now)
            if failing[0]:
                raise ValueError("no")

        async with at_work(queue, worker):
            queue.add("a")
            await breathe()
            for _ in range(94):
                clock.advance(1)
                await breathe()
            assert times == [0, 1, 3, 7, 15, 31, 61, 91]
            assert queue.failures("a") == 8
            failing[0] = False
            for _ in range(60):
                clock.advance(1)
                await breathe()
            assert times[8:] == [121]
            assert queue.failures("a") == 0


async def test_an_event_does_not_wait_for_the_retry() -> None:
    clock, times = FakeClock(), []
    queue: Workqueue[str] = Workqueue(clock=clock, chance=half)

    async def worker(key: str) -> None:
        times.append(clock.now)
        if len(times) == 1:
            queue.retry(key)

    async with at_work(queue, worker):
        queue.add("a")
        await breathe()
        queue.add("a")
        await breathe()
        assert times == [0, 0]


async def test_failures_during_a_pause_do_not_lengthen_it() -> None:
    """A worker that writes its failure enqueues itself; its backoff must not grow by that."""

    clock, times = FakeClock(), []
    queue: Workqueue[str] = Workqueue(clock=clock, chance=half)

    async def worker(key: str) -> None:
        times.append(clock.now)
        queue.retry(key)

    async with at_work(queue, worker):
        for _ in range(5):
            queue.add("a")
            await breathe()
        assert (times, queue.failures("a")) == ([0] * 5, 1)
        for _ in range(3):
            clock.advance(1)
            await breathe()
        assert times[5:] == [1, 3]


def test_pauses_vary_by_a_tenth() -> None:
    low, high = (Workqueue[str](clock=FakeClock(), chance=lambda value=value: value) for value in (0.0, 1.0))
    assert (low.retry("a"), high.retry("a")) == (0.9, 1.1)


ACTS = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 3)),
    st.tuples(st.just("later"), st.integers(0, 3)),
    st.tuples(st.just("time"), st.integers(0, 3)),
    st.tuples(st.just("breathe"), st.integers(0, 1)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ACTS, max_size=40), st.integers(1, 4))
async def test_every_event_is_followed_by_work_and_no_key_is_worked_on_twice_at_once(
    acts, concurrency
) -> None:
    """The world is a counter a key; a worker reads it as it begins. In the end it has read the last value."""

    clock = FakeClock()
    queue: Workqueue[int] = Workqueue(clock=clock, chance=half)
    world, read, working = dict.fromkeys(range(4), 0), dict.fromkeys(range(4), 0), set()

    async def worker(key: int) -> None:
        assert key not in working
        working.add(key)
        value = world[key]
        await asyncio.sleep(0)
        if value % 3 == 2 and not queue.failures(key):
            queue.retry(key)
        else:
            read[key] = value
        await asyncio.sleep(0)
        working.discard(key)

    async with at_work(queue, worker, concurrency):
        for act, number in acts:
            if act == "add":
                world[number] += 1
                queue.add(number)
            elif act == "later":
                world[number] += 1
                queue.add_after(number, number)
            elif act == "time":
                clock.advance(number)
            else:
                await asyncio.sleep(0)
        for _ in range(10):
            clock.advance(5)
            await breathe()
    assert read == world
    assert len(queue) == 0
