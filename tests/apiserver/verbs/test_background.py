"""Work on large objects leaves the event loop to others."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from crossply.apiserver.event_loop_offloading import HEAVY_BYTES, Background
from crossply.apiserver.http.flow_control import EXEMPT, WORKLOAD, Flow, PriorityLevel, current_flow
from crossply.apiserver.verbs.create import create
from crossply.apiserver.verbs.patch import APPLY_YAML, JSON_PATCH, patch
from crossply.apiserver.verbs.update import update
from tests.support.apiserver.event_loop import MANY_TURNS, turns_beside
from tests.support.apiserver.store_bench import Bench, bench


def widget(members: int, **metadata: str) -> dict[str, Any]:
    metadata = {"name": "one", "namespace": "n", **metadata}
    spec = {f"member{n}": {"value": n} for n in range(members)}
    return {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": metadata, "spec": spec}


def yaml(members: int) -> bytes:
    head = "apiVersion: example.org/v1\nkind: Widget\nmetadata:\n  name: one\nspec:\n"
    return (head + "".join(f"  member{n}:\n    value: {n}\n" for n in range(members))).encode()


def call(client: Bench, verb: str, body: Any, content: str = "application/json") -> Any:
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    return client.call("widgets", "n", "one", verb, body=data, headers={"Content-Type": content})


@pytest.mark.parametrize("members", [5_000])
async def test_the_event_loop_takes_turns_while_a_large_object_is_written(members: int) -> None:
    async with bench() as client:
        context = client.context
        large = widget(members)
        assert await turns_beside(create(context, call(client, "create", large))) > MANY_TURNS
        version = client.get("widgets", "n", "one")["metadata"]["resourceVersion"]  # type: ignore[index]
        changed = widget(members + 1, resourceVersion=version)
        assert await turns_beside(update(context, call(client, "update", changed))) > MANY_TURNS
        applied = call(client, "patch", yaml(members), APPLY_YAML)
        assert await turns_beside(patch(context, applied)) > MANY_TURNS


async def test_a_small_patch_of_a_large_object_is_large_work() -> None:
    async with bench() as client:
        await create(client.context, call(client, "create", widget(5_000)))
        operations = [{"op": "add", "path": "/spec/new", "value": 1}]
        assert (
            await turns_beside(patch(client.context, call(client, "patch", operations, JSON_PATCH)))
            > MANY_TURNS
        )


async def test_small_work_needs_no_thread() -> None:
    async with bench() as client:
        await create(client.context, call(client, "create", widget(10)))
        await patch(client.context, call(client, "patch", yaml(11), APPLY_YAML))
        assert client.context.background.pieces == 0


async def test_a_patch_that_copies_is_large_work_however_short() -> None:
    async with bench() as client:
        await create(client.context, call(client, "create", widget(10)))
        copies = [{"op": "copy", "from": "/spec", "path": f"/spec/copy{n}"} for n in range(3)]
        await patch(client.context, call(client, "patch", copies, JSON_PATCH))
        assert client.context.background.pieces > 0


async def test_work_without_a_waiting_caller_is_dropped() -> None:
    background = Background()
    started, proceed = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    done: list[int] = []

    def first() -> None:
        loop.call_soon_threadsafe(started.set)
        asyncio.run_coroutine_threadsafe(proceed.wait(), loop).result(20)

    running = asyncio.create_task(background.run(HEAVY_BYTES, first))
    await started.wait()
    queued = asyncio.create_task(background.run(HEAVY_BYTES, lambda: done.append(1)))
    await asyncio.sleep(0)
    queued.cancel()
    await asyncio.gather(queued, return_exceptions=True)
    proceed.set()
    await running
    await background.run(HEAVY_BYTES, lambda: done.append(2))
    background.close()
    assert done == [2]


async def test_users_take_turns_and_administrators_come_first() -> None:
    background = Background()
    started, proceed = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    done: list[str] = []

    def first() -> None:
        loop.call_soon_threadsafe(started.set)
        asyncio.run_coroutine_threadsafe(proceed.wait(), loop).result(20)

    async def work(user: str, level: PriorityLevel) -> None:
        current_flow.set(Flow(user, level))
        await background.run(HEAVY_BYTES, lambda: done.append(user))

    running = asyncio.create_task(background.run(HEAVY_BYTES, first))
    await started.wait()
    queued = [asyncio.create_task(work("alice", WORKLOAD)) for _ in range(4)]
    queued.append(asyncio.create_task(work("bob", WORKLOAD)))
    queued.append(asyncio.create_task(work("admin", EXEMPT)))
    await asyncio.sleep(0)
    queued[0].cancel()
    proceed.set()
    await asyncio.gather(running, *queued, return_exceptions=True)
    background.close()
    assert done == ["admin", "bob", "alice", "alice", "alice"]
