import asyncio
import threading

import pytest

from crossply.ui.playground.rendering import RenderQueue, Superseded


async def test_a_later_rendering_of_a_tab_abandons_the_earlier_one():
    queue, started = RenderQueue(), threading.Event()

    def until_abandoned(is_abandoned):
        started.set()
        while not is_abandoned():
            pass
        return "abandoned"

    first = asyncio.create_task(queue.run("tab", until_abandoned))
    await asyncio.to_thread(started.wait)
    assert await queue.run("tab", lambda _: "second") == "second"
    assert await first == "abandoned"


async def test_a_superseded_rendering_that_waits_never_starts():
    queue, release = RenderQueue(concurrent=1), threading.Event()
    running = asyncio.create_task(queue.run("other", lambda _: release.wait()))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(queue.run("tab", lambda _: "first"))
    await asyncio.sleep(0)
    later = asyncio.create_task(queue.run("tab", lambda _: "second"))
    await asyncio.sleep(0)
    release.set()
    with pytest.raises(Superseded):
        await waiting
    assert await later == "second"
    await running
