"""The number of steps of a write is bounded by the object's size, and it ends when the client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.event_loop_offloading import HEAVY_BYTES, Background
from crossply.apiserver.patches.strategic_merge_patch import strategic_patch
from crossply.apiserver.served_resources import Version
from crossply.apiserver.verbs.create import create
from crossply.apiserver.verbs.list import list_objects
from crossply.apiserver.verbs.patch import MERGE_PATCH, patch
from crossply.schema.field_errors import INVALID, MAX_ERRORS, FieldError
from crossply.schema.ratcheting import new_errors
from crossply.schema.validation import validate
from crossply.values.cancellation import Interrupted, checkpoint, interruptible
from crossply.values.yaml import dump, load
from tests.support.apiserver.event_loop import MANY_TURNS, turns_beside
from tests.support.apiserver.store_bench import bench, custom

SIZE = 300
MERGED = {"x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name"}
SCHEMA = {"properties": {"items": MERGED, "texts": {"x-kubernetes-patch-strategy": "merge"}}}
KEYED = {"x-kubernetes-list-map-keys": ["name"], "items": {}}


class Text(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        Text.compared += 1
        return str(self) == str(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def texts() -> list[Text]:
    return [Text(f"name{number}") for number in range(SIZE)]


def objects() -> list[dict[str, Any]]:
    return [{"name": text} for text in texts()]


@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        ({"items": objects()}, {"items": objects()}, objects()),
        ({"items": objects()}, {"items": [{**item, "$patch": "delete"} for item in objects()]}, []),
        ({"texts": texts()}, {"texts": texts()}, texts()),
        ({"texts": texts()}, {"$deleteFromPrimitiveList/texts": texts()}, []),
        ({"items": objects()}, {"$setElementOrder/items": objects()[::-1]}, objects()[::-1]),
    ],
    ids=["merge", "delete", "primitives", "delete primitives", "order"],
)
def test_a_strategic_patch_compares_every_item_a_few_times(
    target: dict[str, Any], patch: dict[str, Any], expected: list[Any]
) -> None:
    Text.compared = 0
    (patched,) = strategic_patch(target, patch, SCHEMA).values()
    assert Text.compared <= 5 * SIZE
    assert patched == expected


def test_old_errors_are_ratcheted_with_one_comparison_of_the_objects() -> None:
    old = {"changed": 1, "list": texts(), "keyed": [{"name": f"n{n}", "x": n} for n in range(SIZE)]}
    new = {"changed": 2, "list": texts(), "keyed": [{"name": f"n{n}", "x": n} for n in range(SIZE)]}
    new["keyed"].append({"name": "new"})  # type: ignore[attr-defined]
    schema = {"properties": {"keyed": KEYED}}
    errors = [FieldError(INVALID, f"list[{n}]", "", "") for n in range(SIZE)]
    errors += [FieldError(INVALID, f"keyed[{n}].x", "", "") for n in range(SIZE + 1)]
    Text.compared = 0
    assert [error.field for error in new_errors(errors, new, old, schema)] == [f"keyed[{SIZE}].x"]
    assert Text.compared <= SIZE


def test_no_more_new_errors_are_collected_than_are_reported() -> None:
    errors = [FieldError(INVALID, f"a[{n}]", "", "") for n in range(10 * MAX_ERRORS)]
    assert len(new_errors(errors, {"a": [1]}, {"a": [2]}, {})) == MAX_ERRORS + 1


async def test_a_pod_of_many_empty_containers_is_refused_with_a_short_message() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "one"},
        "spec": {"containers": [{}] * 2000},
    }
    async with bench() as client:
        call = client.call("pods", "n", "one", "create", body=orjson.dumps(pod))
        with pytest.raises(StatusError, match="there are more errors, which are not listed") as refused:
            await create(client.context, call)
        assert len(refused.value.body()["details"]["causes"]) == MAX_ERRORS
        assert client.context.background.pieces > 0  # 6 kB, but many values


MANY: dict[str, Any] = {"a": [{"b": n} for n in range(1000)]}


@pytest.mark.parametrize(
    "work",
    [
        lambda: load(dump(MANY)),
        lambda: load("a: &a {b: c}\nd: [" + "*a, " * 100 + "]"),
        lambda: dump(MANY),
        lambda: validate(MANY, {"properties": {"a": {"type": "array", "items": {}}}}),
        lambda: strategic_patch({}, {"items": objects()}, SCHEMA),
        lambda: new_errors([FieldError(INVALID, "a", "", "")], {}, {}, {}),
    ],
    ids=["read YAML", "read aliases", "write YAML", "validate", "patch", "compare"],
)
def test_work_on_much_data_ends_when_it_is_cancelled(work: Callable[[], Any]) -> None:
    work()
    with interruptible(lambda: True), pytest.raises(Interrupted):
        work()


async def test_a_cancelled_request_stops_computing() -> None:
    background = Background()
    loop, started = asyncio.get_running_loop(), asyncio.Event()

    def endless() -> None:
        loop.call_soon_threadsafe(started.set)
        while True:
            checkpoint()

    task = asyncio.create_task(background.run(HEAVY_BYTES, endless))
    await started.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await background.run(HEAVY_BYTES, lambda: "next") == "next"
    background.close()


async def test_many_changes_of_one_large_object_are_all_applied_once() -> None:
    data = {f"key{n}": "value" for n in range(8000)}
    changes = 0

    def change(old: dict[str, Any]) -> dict[str, Any]:
        nonlocal changes
        changes += 1
        return {**old, "data": {**old["data"], "count": str(int(old["data"].get("count", 0)) + 1)}}

    async with bench() as client:
        await client.create("configmaps", "n", "one", data=data)
        await asyncio.gather(*(client.update("configmaps", "n", "one", change) for _ in range(8)))
        written = client.get("configmaps", "n", "one")
        assert written is not None
        assert (written["data"]["count"], changes) == ("8", 8)


async def test_a_small_patch_of_an_object_of_many_values_is_large_work() -> None:
    async with bench() as client:
        await client.create("widgets", "n", "one", spec={"items": [{}] * 2000})
        before = client.context.background.pieces
        headers = {"Content-Type": MERGE_PATCH}
        call = client.call("widgets", "n", "one", "patch", body=b'{"spec":{"a":1}}', headers=headers)
        await patch(client.context, call)
        assert client.context.background.pieces > before


async def test_bringing_large_objects_up_to_date_leaves_the_event_loop_to_others() -> None:
    async with bench() as client:
        for number in range(20):
            spec = {f"key{n}": {"value": n} for n in range(2000)}
            await client.create("widgets", "n", f"w{number}", spec=spec)
        fields = {"spec": {"type": "object", "additionalProperties": {"type": "object"}}}
        schema = {"type": "object", "properties": fields}
        client.context.registry.put(
            custom("widgets", "Widget", True, versions={"v1": Version("v1", schema)}, since=10_000)
        )
        before = client.context.background.pieces
        listing = list_objects(client.context, client.call("widgets", "n", "", "list"))
        assert await turns_beside(listing) > MANY_TURNS
        assert client.context.background.pieces == before + 1
