"""A change enqueues exactly the composite resources that read the object, on a real server."""

from __future__ import annotations

import asyncio

import pytest

from crossply.control.composite_dependency_watches import (
    NAMESPACES_OF_A_KIND,
    UNSETTLED,
    Dependencies,
    Interest,
)
from crossply.kube.shared_informers import SharedInformers
from tests.support.server_process import CONFIG_MAP, config_map

HOUR = 3600.0


class CallCounter:
    """Counts enqueued keys."""

    def __init__(self) -> None:
        self.times: dict[str, int] = {}
        self.changed = asyncio.Event()

    def callback(self, name: str):
        def count_call(source: str) -> None:
            self.times[name] = self.times.get(name, 0) + 1
            self.changed.set()

        return count_call

    async def until(self, name: str, times: int) -> None:
        async with asyncio.timeout(20):
            while self.times.get(name, 0) < times:
                self.changed.clear()
                await self.changed.wait()


@pytest.fixture
async def caches(client):
    async with SharedInformers(client) as running:
        yield running


@pytest.fixture
def dependencies(caches):
    return Dependencies(caches)


@pytest.fixture
def calls():
    return CallCounter()


async def test_many_namespaces_of_a_kind_share_one_watch_that_goes_with_the_last(
    client, caches, dependencies, calls, ns
) -> None:
    await client.create(CONFIG_MAP, config_map("one", ns))
    interests = [Interest(CONFIG_MAP, f"{ns}-{number}", "one") for number in range(500)]
    # The namespace that is there is the last: it has no watch of its own.
    dependencies.watch("many", interests, calls.callback("many"))
    dependencies.watch("late", [Interest(CONFIG_MAP, ns, "one")], calls.callback("late"))
    dependencies.watch("other", [Interest(CONFIG_MAP, f"{ns}-499", "one")], calls.callback("other"))
    assert len(caches.running()) == NAMESPACES_OF_A_KIND + 1
    await calls.until("late", 1)
    await calls.until("other", 1)
    await client.patch_merge(CONFIG_MAP, "one", {"data": {"size": "2"}}, ns)
    await calls.until("late", 2)
    assert calls.times["other"] == 1
    dependencies.forget("many")
    dependencies.forget("other")
    assert len(caches.running()) == 1
    dependencies.forget("late")
    assert caches.running() == []


async def test_only_readers_of_an_object_are_enqueued(client, caches, dependencies, calls, ns) -> None:
    await client.create(CONFIG_MAP, config_map("one", ns))
    for name, interest in {
        "by name": Interest(CONFIG_MAP, ns, "one"),
        "by another name": Interest(CONFIG_MAP, ns, "two"),
        "by labels": Interest(CONFIG_MAP, ns, labels=(("of", "case"),)),
        "by other labels": Interest(CONFIG_MAP, ns, labels=(("of", "other"),)),
        "all": Interest(CONFIG_MAP, ns),
    }.items():
        dependencies.watch(name, [interest], calls.callback(name))
    await calls.until("all", 1)  # all are enqueued when a watch starts: something may have changed before
    before = dict(calls.times)
    await client.patch_merge(CONFIG_MAP, "one", {"data": {"a": "1"}}, ns)
    await calls.until("all", before["all"] + 1)
    grown = {name for name, times in calls.times.items() if times > before[name]}
    assert grown == {"by name", "by labels", "all"}
    assert len(caches.running()) == 1, "they share one watch"


async def test_an_object_that_loses_a_label_still_counts_by_the_old_one(
    client, caches, dependencies, calls, ns
) -> None:
    await client.create(CONFIG_MAP, config_map("one", ns))
    dependencies.watch("x", [Interest(CONFIG_MAP, ns, labels=(("of", "case"),))], calls.callback("x"))
    await calls.until("x", 1)
    await client.patch_merge(CONFIG_MAP, "one", {"metadata": {"labels": {"of": None}}}, ns)
    await calls.until("x", 2)


async def test_a_new_dependency_enqueues_once_since_it_may_have_changed_before_the_watch(
    client, caches, dependencies, calls, ns
) -> None:
    one, two = Interest(CONFIG_MAP, ns, "one"), Interest(CONFIG_MAP, ns, "two")
    dependencies.watch("x", [one], calls.callback("x"))
    await calls.until("x", 1)
    dependencies.watch("x", [one, two], calls.callback("x"))
    assert calls.times["x"] == 2
    dependencies.watch("x", [two, one], calls.callback("x"))
    assert calls.times["x"] == 2, "nothing is new"


async def test_the_last_one_to_leave_ends_the_watch(client, caches, dependencies, calls, ns) -> None:
    interest = Interest(CONFIG_MAP, ns, "one")
    dependencies.watch("x", [interest], calls.callback("x"))
    dependencies.watch("y", [interest], calls.callback("y"))
    dependencies.forget("x")
    assert caches.running()
    dependencies.watch("y", [], calls.callback("y"))
    assert not caches.running()
    dependencies.forget("nobody")


async def test_a_composite_whose_dependencies_change_every_time_is_enqueued_ever_later(
    client, caches, dependencies, calls, ns
) -> None:
    """Simulates a function whose requirements differ at every call."""

    later = []
    loop = asyncio.get_running_loop()
    call_later = loop.call_later
    dependencies.watch("steady", [Interest(CONFIG_MAP, ns)], calls.callback("steady"))
    await calls.until("steady", 1)
    for number in range(UNSETTLED):
        dependencies.watch("x", [Interest(CONFIG_MAP, ns, f"n{number}")], calls.callback("x"))
        assert calls.times["x"] == number + 1
    loop.call_later = lambda seconds, *rest, **more: later.append(seconds) or call_later(HOUR, *rest, **more)
    try:
        for number in range(4):
            dependencies.watch("x", [Interest(CONFIG_MAP, ns, f"m{number}")], calls.callback("x"))
    finally:
        del loop.call_later
    assert calls.times["x"] == UNSETTLED
    assert later == [1.0, 2.0, 4.0, 8.0]
    dependencies.watch("x", [Interest(CONFIG_MAP, ns, "m3")], calls.callback("x"))
    dependencies.watch("x", [Interest(CONFIG_MAP, ns, "settled")], calls.callback("x"))
    assert calls.times["x"] == UNSETTLED + 1, "one that came to rest is woken at once again"
    assert len(caches.running()) == 1


async def test_a_watch_that_is_needed_before_and_after_goes_on(
    client, caches, dependencies, calls, ns
) -> None:
    dependencies.watch("x", [Interest(CONFIG_MAP, ns, "one")], calls.callback("x"))
    [before] = caches.running()
    dependencies.watch("x", [Interest(CONFIG_MAP, ns, "two")], calls.callback("x"))
    [after] = caches.running()
    assert before is after
