"""What readers and writers can rely on, with a database and in memory alike."""

from __future__ import annotations

import asyncio

import pytest

from crossply.apiserver.storage import Changed, Compacted, Event, Exists, StorageClosed, Store
from tests.support.apiserver.stored_objects import (
    WIDGETS,
    content_of,
    create,
    delete,
    encoder,
    names,
    update,
    widget,
)


@pytest.fixture(params=["database", "memory"])
def place(request: pytest.FixtureRequest, directory: str) -> str | None:
    return directory if request.param == "database" else None


async def test_a_created_object_is_read_with_its_revision(place: str | None) -> None:
    store = await Store.open(place)
    entry = await create(store, widget("a"), 1)
    assert store.get(widget("a")) == entry
    assert entry.revision == store.revision == 2
    assert entry.data == b'{"metadata":{"resourceVersion":"2"},"spec":1}'
    await store.close()


async def test_an_empty_store_is_not_at_revision_zero(place: str | None) -> None:
    store = await Store.open(place)
    assert (store.revision, store.compacted, store.resources()) == (1, 0, set())
    await store.close()


async def test_of_many_racers_exactly_one_wins(place: str | None) -> None:
    store = await Store.open(place)
    creations = await asyncio.gather(
        *[create(store, widget("a"), n) for n in range(20)], return_exceptions=True
    )
    assert [type(result) for result in creations].count(Exists) == 19
    first = store.get(widget("a"))
    assert first is not None
    updates = await asyncio.gather(
        *[store.write(widget("a"), first.revision, encoder(n)) for n in range(20)], return_exceptions=True
    )
    assert [type(result) for result in updates].count(Changed) == 19
    await store.close()


async def test_a_stale_or_absent_object_is_neither_replaced_nor_deleted(place: str | None) -> None:
    store = await Store.open(place)
    await create(store, widget("a"))
    with pytest.raises(Changed) as stale:
        await store.write(widget("a"), 999, encoder())
    assert stale.value.current == store.get(widget("a"))
    with pytest.raises(Changed) as absent:
        await store.delete(widget("b"), 2, encoder())
    assert absent.value.current is None
    with pytest.raises(Exists):
        await create(store, widget("a"))
    assert store.revision == 2
    await store.close()


async def test_writers_see_uncommitted_writes_and_readers_do_not(place: str | None) -> None:
    store = await Store.open(place)
    first = asyncio.ensure_future(create(store, widget("a"), 1))
    await asyncio.sleep(0)
    assert store.get(widget("a")) is None
    second = asyncio.ensure_future(update(store, widget("a"), 2))
    third = asyncio.ensure_future(delete(store, widget("a"), 3))
    await asyncio.gather(first, second)
    assert (await third).revision == 4
    assert store.latest(widget("a")) is None
    assert [event.type for event in store.events(WIDGETS, 0)] == ["ADDED", "MODIFIED", "DELETED"]
    await store.close()


async def test_a_deletion_keeps_the_last_state_with_its_own_revision(place: str | None) -> None:
    store = await Store.open(place)
    created = await create(store, widget("a"), "kept")
    deleted = await delete(store, widget("a"), "kept")
    assert store.get(widget("a")) is None
    assert (store.count(WIDGETS), store.resources()) == (0, set())
    event = store.events(WIDGETS, created.revision)[0]
    assert event == Event(3, "DELETED", widget("a"), deleted.data, created.data, created.revision)
    assert content_of(deleted) == "kept"
    await store.close()


async def test_an_encoder_that_fails_spends_no_revision(place: str | None) -> None:
    store = await Store.open(place)
    with pytest.raises(ZeroDivisionError):
        await store.write(widget("a"), None, lambda revision: bytes(1 // 0))
    assert store.latest(widget("a")) is None
    assert (await create(store, widget("a"))).revision == 2
    await store.close()


async def test_lists_are_sorted_as_etcd_sorts(place: str | None) -> None:
    store = await Store.open(place)
    keys = [
        widget("b", "team"),
        widget("a.b", "team"),
        widget("a", "team"),
        widget("a-b", "team"),
        widget("z", "team-a"),
    ]
    await asyncio.gather(*[create(store, key) for key in keys])
    await create(store, ("gadgets", "", "cluster-wide"))
    assert names(store.list(WIDGETS)) == ["z", "a", "a-b", "a.b", "b"]  # team-a/ comes before team/
    assert names(store.list(WIDGETS, "team")) == ["a", "a-b", "a.b", "b"]
    assert names(store.list("gadgets")) == ["cluster-wide"]
    assert store.list("gizmos") == []
    assert (store.count(WIDGETS), store.resources()) == (5, {WIDGETS, "gadgets"})
    await store.close()


async def test_a_list_at_an_older_revision_has_the_older_state(place: str | None) -> None:
    store = await Store.open(place)
    await create(store, widget("kept"), 1)
    await create(store, widget("changed"), 1)
    await create(store, widget("deleted"), 1)
    await create(store, widget("other", "elsewhere"), 1)
    then, before = store.revision, store.list(WIDGETS, "default")
    await create(store, widget("added"), 1)
    await update(store, widget("changed"), 2)
    await update(store, widget("changed"), 3)
    await delete(store, widget("deleted"))
    await create(store, widget("deleted"), "again")
    await update(store, widget("other", "elsewhere"), 2)
    assert store.list_at(WIDGETS, "default", then) == before
    assert len(store.list_at(WIDGETS, "", then)) == 4
    assert store.list_at(WIDGETS, "", 1) == []
    assert store.list_at(WIDGETS, "", store.revision) == store.list(WIDGETS)
    await store.close()


async def test_compacted_history_is_refused_and_the_rest_is_whole(place: str | None) -> None:
    store = await Store.open(place)
    for number in range(10):
        await create(store, widget(f"w{number}"))
    await store.compact(6)
    with pytest.raises(Compacted) as refused:
        store.events(WIDGETS, 5)
    assert (refused.value.revision, refused.value.compacted) == (5, 6)
    with pytest.raises(Compacted):
        store.list_at(WIDGETS, "", 5)
    assert [event.revision for event in store.events(WIDGETS, 6)] == [7, 8, 9, 10, 11]
    assert len(store.list_at(WIDGETS, "", 6)) == 5
    await store.compact()
    await store.compact(3)  # going back changes nothing
    assert (store.compacted, store.events(WIDGETS, 11)) == (11, [])
    await store.close()


async def test_a_closed_store_accepts_no_more_writes_but_finishes_those_in_flight(place: str | None) -> None:
    store = await Store.open(place)
    ensure_future = asyncio.ensure_future(create(store, widget("a")))
    await asyncio.sleep(0)
    await store.close()
    assert (await ensure_future).revision == 2
    with pytest.raises(StorageClosed):
        await create(store, widget("b"))
    assert store.get(widget("a")) is not None
    await store.close()


async def test_a_writer_that_gives_up_waiting_does_not_undo_its_write(place: str | None) -> None:
    store = await Store.open(place)
    writer = asyncio.ensure_future(create(store, widget("a")))
    await asyncio.sleep(0)
    writer.cancel()
    await create(store, widget("b"))
    assert names(store.list(WIDGETS)) == ["a", "b"]
    await store.close()
