"""Keeps the event loop responsive: heavy work runs in one thread, long loops yield in between.

Heavy is work on large objects, and work that waits for the process of expensive expressions. Everything else
runs in the event loop, because a thread costs a small request more than its work. There is only one thread:
Python threads share the interpreter lock, so with more of them the event loop would run less often. Users
share the thread fairly.

The weight of work is measured in bytes of ordinary JSON. YAML takes about fifty times as long to read or
write, aliases multiply a few bytes to a hundred thousand values, and many tiny values cost more than one long
string.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, get_ident
from typing import Any, NamedTuple, ParamSpec, TypeVar

import orjson

from crossply.apiserver.http.flow_control import FairLock, current_flow
from crossply.schema.cel_program import WouldBlock, may_block, without_blocking
from crossply.values.cancellation import interruptible

HEAVY_BYTES = 64 << 10
"""From this weight on, work runs in the thread."""

_TURN_SECONDS = 0.001
_P = ParamSpec("_P")
_T = TypeVar("_T")


class Background:
    """The thread, started when it is first needed."""

    __slots__ = ("_executor", "_lock", "pieces")

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._lock = FairLock()
        self.pieces = 0
        """How many pieces of work ran in the thread."""

    async def run(self, weight: int, work: Callable[[], _T]) -> _T:
        """Run work of this weight. It must not touch state of the event loop, and may be started twice."""
        if weight < HEAVY_BYTES:
            try:
                with without_blocking():
                    return work()
            except WouldBlock:
                pass  # start over, in the thread
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, "crossply-background")
        self.pieces += 1
        await self._lock.acquire(current_flow.get())
        abandoned = Event()
        future = self._executor.submit(_run_interruptibly, work, abandoned.is_set)
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: _call_in(loop, self._lock.release))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            abandoned.set()
            raise

    def close(self) -> None:
        """Cancel the work that has not started."""
        self._lock.cancel_all()
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)


def in_event_loop(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Wrap a function for use in background work: it always runs in the event loop."""
    loop, owner = asyncio.get_running_loop(), get_ident()

    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        if get_ident() == owner:
            return function(*args, **kwargs)

        async def called() -> _T:
            return function(*args, **kwargs)

        return asyncio.run_coroutine_threadsafe(called(), loop).result()

    return call


def leave_event_loop(weight: int) -> None:
    """Make `Background.run` start over in the thread if its work turns out to be heavy."""
    if weight >= HEAVY_BYTES and not may_block():
        raise WouldBlock


def _call_in(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop is closed, so nobody waits
        loop.call_soon_threadsafe(function)


def _run_interruptibly(work: Callable[[], _T], is_abandoned: Callable[[], bool]) -> _T:
    """Run work with a short switch interval; it ends early if its caller is gone."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_SECONDS)
    try:
        with interruptible(is_abandoned):
            return work()
    finally:
        sys.setswitchinterval(interval)


YAML_FACTOR = 50
PROTOBUF_FACTOR = 10
_BYTES_PER_VALUE = 128


def yaml_weight(body: bytes) -> int:
    """The weight of reading a body as YAML."""
    return len(body) * YAML_FACTOR + (HEAVY_BYTES if b"*" in body else 0)


class ValueSize(NamedTuple):
    """The weight of working on a value, by the number of values in it; and how many levels deep it nests."""

    weight: int
    levels: int


def value_size(value: Any) -> ValueSize:
    count, levels = 1, 0
    level = [value] if type(value) in (dict, list) else []
    while level:
        containers = [item.values() if type(item) is dict else item for item in level]
        count += sum(map(len, containers))
        level = [child for items in containers for child in items if type(child) in (dict, list)]
        levels += 1
    return ValueSize(count * _BYTES_PER_VALUE, levels)


def is_light_json(body: bytes) -> bool:
    """Whether JSON has only few values, without parsing it: each follows a comma or a bracket."""
    return (body.count(b",") + body.count(b"{") + body.count(b"[")) * _BYTES_PER_VALUE < HEAVY_BYTES


def stored_weight(data: bytes) -> int:
    """The weight of working on a stored object."""
    return len(data) if is_light_json(data) else max(len(data), HEAVY_BYTES)


def encoded_weight(value: Any, factor: int) -> int:
    """The weight of encoding a value in a form that takes `factor` times as long as JSON."""
    return len(orjson.dumps(value)) * factor


SLICE_BYTES = 64 << 10
"""How much work is done before the loop yields: about a millisecond."""


class Slices:
    """Counts work since the last yield."""

    __slots__ = ("_done",)

    def __init__(self) -> None:
        self._done = 0

    async def spend(self, weight: int) -> None:
        """Yield to other tasks if enough work was done."""
        self._done += weight
        if self._done >= SLICE_BYTES:
            self._done = 0
            await asyncio.sleep(0)
