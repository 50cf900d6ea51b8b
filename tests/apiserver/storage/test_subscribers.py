"""The order in which subscribers get changes."""

from __future__ import annotations

import asyncio
import logging
import random

import pytest

from crossply.apiserver.storage import Event, Store
from tests.support.apiserver.stored_objects import WIDGETS, create, delete, update, widget


async def test_all_listeners_hear_every_event_once_in_order_of_revision(directory: str) -> None:
    store = await Store.open(directory)
    revisions: list[list[int]] = [[], [], []]
    for ears in revisions:
        store.subscribe(WIDGETS, lambda event, ears=ears: ears.append(event.revision))  # type: ignore[misc]

    async def writer(name: str) -> None:
        await create(store, widget(name))
        await update(store, widget(name))
        await delete(store, widget(name))

    await asyncio.gather(*[writer(f"w{number}") for number in range(50)])
    assert revisions[0] == list(range(2, 152)) == [event.revision for event in store.events(WIDGETS, 0)]
    assert revisions[0] == revisions[1] == revisions[2]
    await store.close()


async def test_an_event_is_delivered_when_it_can_be_read_and_before_the_writer_goes_on() -> None:
    store = await Store.open(None)
    observed = []
    store.subscribe(WIDGETS, lambda event: observed.append(store.get(event.key)))
    entry = await create(store, widget("a"))
    assert observed == [entry]
    await store.close()


async def test_listeners_hear_of_their_resource_only_and_some_of_everything() -> None:
    store = await Store.open(None)
    of_widgets: list[Event] = []
    of_all: list[Event] = []
    store.subscribe(WIDGETS, of_widgets.append)
    store.subscribe("", of_all.append)
    await create(store, ("gadgets", "", "g"))
    await create(store, widget("a"))
    assert [event.key for event in of_widgets] == [widget("a")]
    assert [event.key for event in of_all] == [("gadgets", "", "g"), widget("a")]
    await store.close()


async def test_a_list_and_subscribe_at_any_time_misses_nothing_and_repeats_nothing() -> None:
    store = await Store.open(None)
    chance = random.Random(7)
    watchers: list[tuple[dict[str, int], list[Event]]] = []

    def join(_: Event | None = None) -> None:
        if chance.random() < 0.1:
            events: list[Event] = []
            watchers.append(({entry.key[2]: entry.revision for entry in store.list(WIDGETS)}, events))
            store.subscribe(WIDGETS, events.append)

    store.subscribe(WIDGETS, join)  # also while a round of notifications runs

    async def writer(name: str) -> None:
        await create(store, widget(name))
        await update(store, widget(name))
        if chance.random() < 0.5:
            await delete(store, widget(name))

    await asyncio.gather(*[writer(f"w{number}") for number in range(100)])
    final = {entry.key[2]: entry.revision for entry in store.list(WIDGETS)}
    assert len(watchers) > 5
    for state, events in watchers:
        for event in events:
            assert state.get(event.key[2], 0) == event.previous_revision
            if event.type == "DELETED":
                del state[event.key[2]]
            else:
                state[event.key[2]] = event.revision
        assert state == final
    await store.close()


async def test_an_unsubscribed_client_gets_nothing_more_even_in_the_same_round() -> None:
    store = await Store.open(None)
    events: list[Event] = []
    leave = store.subscribe(WIDGETS, lambda event: events.append(event) or leave())  # type: ignore[func-returns-value]
    await asyncio.gather(*[create(store, widget(f"w{number}")) for number in range(5)])
    leave()
    assert len(events) == 1
    await store.close()


async def test_a_broken_listener_does_not_disturb_others(caplog: pytest.LogCaptureFixture) -> None:
    store = await Store.open(None)
    events: list[Event] = []

    def broken(event: Event) -> None:
        raise ValueError("listener is broken")

    store.subscribe(WIDGETS, broken)
    store.subscribe(WIDGETS, events.append)
    with caplog.at_level(logging.ERROR):
        await create(store, widget("a"))
    assert len(events) == 1
    assert "listener failed on revision 2 of widgets.example.org/default/a" in caplog.text
    await store.close()
