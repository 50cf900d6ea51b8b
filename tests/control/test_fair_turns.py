"""Kinds of composite resources that call the same function take turns, and none keeps the others waiting."""

from __future__ import annotations

import asyncio
import threading

from crossply.compose.function_messages import Request, Resource, Response, State
from crossply.control.calls.fair_turns import FairTurns
from crossply.control.calls.runner_protocol import FunctionCall
from crossply.control.calls.threaded_runner import ThreadedRunner


def call_of(kind: str) -> FunctionCall:
    xr = Resource({"apiVersion": "example.org/v1", "kind": kind})
    return FunctionCall("step", Request(State(xr)), 1.0)


class Blocking:
    """A function that answers one kind at once, and others when it is told to."""

    def __init__(self) -> None:
        self.end = threading.Event()
        self.begun = threading.Semaphore(0)
        self.kinds: list[str] = []

    def __call__(self, request: Request, timeout: float) -> Response:
        assert request.observed.composite is not None
        kind = request.observed.composite.object["kind"]
        self.kinds.append(kind)
        self.begun.release()
        if kind != "Quick":
            self.end.wait()
        return Response()

    def close(self) -> None:
        pass


async def started(function: Blocking, count: int) -> None:
    for _ in range(count):
        await asyncio.to_thread(function.begun.acquire)


async def test_a_kind_whose_calls_take_long_leaves_a_place_for_others() -> None:
    function = Blocking()
    runner = ThreadedRunner(function, 4)
    slow = [asyncio.create_task(runner(call_of("Slow"))) for _ in range(100)]
    await started(function, 3)
    await runner(call_of("Quick"))
    assert function.kinds == ["Slow"] * 3 + ["Quick"], "the fourth place is kept for others"
    function.end.set()
    await asyncio.gather(*slow)
    assert function.kinds.count("Slow") == 100, "none is forgotten"
    runner.close()


async def test_callers_that_wait_take_turns() -> None:
    turns, order = FairTurns(1), []

    async def run(caller: str) -> None:
        await turns.acquire(caller)
        order.append(caller)
        await asyncio.sleep(0)
        turns.release(caller)

    await asyncio.gather(*map(run, "aaaaabbc"))
    assert "".join(order) == "aabcabaa"


async def test_a_call_that_is_given_up_keeps_its_place_until_its_thread_is_free() -> None:
    function = Blocking()
    runner = ThreadedRunner(function, 4)
    for _ in range(5):
        slow = [asyncio.create_task(runner(call_of("Slow"))) for _ in range(3)]
        await asyncio.sleep(0)
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
    await runner(call_of("Quick"))
    assert function.kinds.count("Slow") <= 3
    function.end.set()
    await runner(call_of("Slow"))
    runner.close()


async def test_a_place_is_not_lost_when_whoever_waits_for_it_gives_up() -> None:
    turns = FairTurns(1)
    await turns.acquire("a")
    waiting = [asyncio.create_task(turns.acquire(caller)) for caller in ("a", "b")]
    await asyncio.sleep(0)
    waiting[0].cancel()
    turns.release("a")
    waiting[1].cancel()  # in the moment in which it gets the place
    await asyncio.gather(*waiting, return_exceptions=True)
    await asyncio.wait_for(turns.acquire("c"), 10)
