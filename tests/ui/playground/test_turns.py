import asyncio
import threading

import pytest

from crossply.ui.playground.turns import Superseded, Turns


async def test_a_later_rendering_of_a_tab_abandons_the_earlier_one():
    turns, started = Turns(), threading.Event()

    def until_abandoned(is_abandoned):
        started.set()
        while not is_abandoned():
            pass
        return "abandoned"

    first = asyncio.create_task(turns.run("tab", until_abandoned))
    await asyncio.to_thread(started.wait)
    assert await turns.run("tab", lambda _: "second") == "second"
    assert await first == "abandoned"


async def test_what_waits_for_its_turn_and_is_superseded_never_starts():
    turns, release = Turns(concurrent=1), threading.Event()
    running = asyncio.create_task(turns.run("other", lambda _: release.wait()))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(turns.run("tab", lambda _: "first"))
    await asyncio.sleep(0)
    later = asyncio.create_task(turns.run("tab", lambda _: "second"))
    await asyncio.sleep(0)
    release.set()
    with pytest.raises(Superseded):
        await waiting
    assert await later == "second"
    await running
