"""When a run of a pipeline ends before its last step."""

from __future__ import annotations

import asyncio

import pytest

from crossply.compose.errors import RunTooLong
from crossply.control.composites.run_deadline import RunDeadline, RunGuard
from crossply.kube.failures import Conflict
from crossply.kube.informer import Informer
from crossply.kube.shared_informers import SharedInformers
from tests.support.server_process import CONFIG_MAP, config_map


def test_a_run_ends_when_its_time_is_over() -> None:
    now = [0.0]
    deadline = RunDeadline(seconds=60, clock=lambda: now[0])
    now[0] = 60
    deadline.check()
    now[0] = 61
    with pytest.raises(RunTooLong, match="after 60 seconds"):
        deadline.check()


@pytest.mark.parametrize("finalizers", [[], ["example.org/keep"]])
async def test_a_run_ends_when_its_object_is_deleted(client, ns, finalizers) -> None:
    body = config_map("mine", ns)
    body["metadata"]["finalizers"] = finalizers
    obj = await client.create(CONFIG_MAP, body)
    async with SharedInformers(client) as caches:
        cache = caches.acquire(CONFIG_MAP)
        await cache.synced.wait()
        guard, before = RunGuard(cache, obj), cache.get(ns, "mine")
        guard.check()
        await client.delete(CONFIG_MAP, "mine", ns)
        async with asyncio.timeout(20):
            while cache.get(ns, "mine") is before:
                await asyncio.sleep(0.01)
        with pytest.raises(Conflict):
            guard.check()
        assert guard.is_deleted() is (not finalizers)


async def test_an_object_that_was_never_in_the_cache_is_not_gone(client) -> None:
    guard = RunGuard(Informer(client, CONFIG_MAP), config_map("planned", "ns"))
    guard.check()
    assert not guard.is_deleted()
