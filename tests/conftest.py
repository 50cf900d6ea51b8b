"""What every suite shares: which API server a run is about, and how properties are tried."""

from __future__ import annotations

import asyncio
import collections
import functools
import inspect
import os
import signal
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import HealthCheck, settings

from tests.support.patience import PATIENCE

# How long an example takes depends on what else the machine does: tests never judge by time. Each run tries
# the same examples, so that a change is not refused for what it did not touch. The weekly run tries others.
settings.register_profile(
    "crossply",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CROSSPLY_RANDOM_EXAMPLES" not in os.environ,
)
settings.load_profile("crossply")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--server",
        choices=("embedded", "real"),
        default="embedded",
        help="the API server that tests/api is run against; a real one needs the programs of tests/cluster",
    )


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell has what it runs in the background ignore Ctrl-C. Programs that tests start must not.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "embedded_only(why): a real server cannot promise this")
    config.addinivalue_line("markers", "time_limit(seconds): how long a coroutine may take")
    config.addinivalue_line(
        "markers", "differs(why): the embedded server answers otherwise, which is a fault"
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """A coroutine that waits forever fails."""
    if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
        mark = item.get_closest_marker("time_limit")
        item.obj = _limited(item.obj, mark.args[0] if mark else 3 * PATIENCE)


def _limited(test: Callable[..., Awaitable[None]], seconds: float) -> Callable[..., Awaitable[None]]:
    @functools.wraps(test)
    async def run(*args: object, **kwargs: object) -> None:
        async with asyncio.timeout(seconds):
            await test(*args, **kwargs)

    return run


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A known fault of the embedded server must fail there, so that the mark goes with the fault."""
    if hasattr(config, "workerinput"):
        start_with_large_groups(items)
    if config.getoption("--server") == "real":
        for item in items:
            if (mark := item.get_closest_marker("embedded_only")) is not None:
                item.add_marker(pytest.mark.skip(reason=mark.args[0]))
        return
    for item in items:
        if (mark := item.get_closest_marker("differs")) is not None:
            item.add_marker(pytest.mark.xfail(reason=mark.args[0], strict=True))


def start_with_large_groups(items: list[pytest.Item]) -> None:
    """One worker runs a whole group: one that starts last would be waited for alone."""
    groups = [item.get_closest_marker("xdist_group") for item in items]
    sizes = collections.Counter(mark.args[0] for mark in groups if mark is not None)
    by_item = {
        item: sizes[mark.args[0]] if mark is not None else 0 for item, mark in zip(items, groups, strict=True)
    }
    items.sort(key=lambda item: -by_item[item])
