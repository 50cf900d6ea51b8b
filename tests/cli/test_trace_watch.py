"""`trace --watch` shows every change of the tree, and ends when its root is deleted."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess

import pytest

from crossply.cli.framework.layout import wrap
from crossply.cli.framework.screen import Screen, fit
from crossply.cli.trace.watch import News
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from tests.support.cli.trace_cluster import NAMESPACE, READY, SYNCED, World, refs, resource, to
from tests.support.server_process import CROSSPLY
from tests.support.terminal import terminal

SHOP = Kind("acme.test", "v1", "Shop", "shops", True)
SHELVES = Kind("acme.test", "v1", "Shelf", "shelves", True)


@pytest.mark.parametrize("turns", range(5))
def test_a_cancellation_that_comes_with_a_change_is_not_lost(world: World, turns: int) -> None:
    async def case(client: Client) -> None:
        news = News(client)
        waiting = asyncio.create_task(news.wait())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        news.notify()
        for _ in range(turns):
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    world.run(case)


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


async def read_until(descriptor: int, text: str) -> str:
    """All that is written until the text was."""
    text_read = ""
    async with asyncio.timeout(20):
        while text not in text_read:
            text_read += (await asyncio.to_thread(os.read, descriptor, 65536)).decode()
    return text_read


def start(world: World, name: str, stdout: int) -> subprocess.Popen[bytes]:
    command = [CROSSPLY, "trace", f"shop/{name}", "-n", NAMESPACE, "--watch"]
    environ = {**os.environ, "KUBECONFIG": world.kubeconfig}
    return subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, env=environ)


def test_a_missing_child_that_appears_and_a_root_that_goes_are_shown_at_once(world: World) -> None:
    world.put(resource("Shop", "watched", SYNCED, READY, spec=refs(to("Shelf", "late"))))
    reading, writing = os.pipe()
    process = start(world, "watched", writing)

    async def case(client: Client) -> None:
        assert "not found" in await read_until(reading, "\n└─ Shelf/late")
        await asyncio.to_thread(world.put, resource("Shelf", "late", SYNCED, READY))
        assert "NAME" in await read_until(reading, "True     True    Available\n"), "a whole new table"
        await client.delete(SHOP, "watched", NAMESPACE)

    world.run(case)
    os.close(writing)
    assert process.wait(20) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b"crossply: Shop/watched (town) was deleted\n"
    process.stderr.close()
    os.close(reading)


def test_on_a_terminal_only_the_lines_that_changed_are_painted(world: World) -> None:
    world.put(resource("Shop", "painted", spec=refs(to("Shelf", "first"), to("Shelf", "second"))))
    world.put(resource("Shelf", "first", SYNCED, READY))
    world.put(resource("Shelf", "second"))
    command = [CROSSPLY, "trace", "shop/painted", "-n", NAMESPACE, "--watch"]

    async def make_ready(client: Client) -> None:
        await client.patch_merge(SHELVES, "second", {"status": {"conditions": [SYNCED, READY]}}, NAMESPACE)

    async def delete(client: Client) -> None:
        await client.delete(SHOP, "painted", NAMESPACE)

    with terminal(command, {"KUBECONFIG": world.kubeconfig}, rows=40, columns=120) as shown:
        first = shown.wait_for("└─ Shelf/second")
        assert first.startswith("NAME")
        before = len(shown.written)
        world.run(make_ready)
        shown.wait_for(lambda text: text.count("✓ True   ✓ True") == 2)
        change = shown.written[before:]
        assert "Shelf/second" in change
        assert "NAME" not in change, "that line is as it was"
        assert "\x1b[2J" not in change, "clearing would flicker"
        world.run(delete)
        assert shown.finish() == 0
        assert shown.screen.text.rstrip().endswith("crossply: Shop/painted (town) was deleted")


def test_only_a_single_resource_can_be_watched(trace) -> None:
    code, out, _ = trace("stall -n town -w")
    assert (code, out.splitlines()[-1]) == (0, "error: you may only watch a single resource at a time")


@pytest.mark.parametrize(
    ("rows", "shown", "reason"),
    [
        (9, ["a", "b" * 10, "b" * 10, "b" * 5, "c", "d"], "all of it: the second line takes three rows"),
        (6, ["a", "b" * 10, "b" * 10, "b" * 5, "… 2 more lines"], "no room for the last row"),
        (3, ["… 4 more lines"], "hardly any room"),
    ],
)
def test_a_picture_that_is_too_high_is_cut_off_below(rows: int, shown: list[str], reason: str) -> None:
    assert fit(["a", "b" * 25, "c", "d"], 10, rows) == shown, reason


def test_a_picture_is_redrawn_when_the_window_changes_its_size() -> None:
    stream, size = Tty(), [(20, 10)]
    screen = Screen(stream, {}, lambda: size[0])
    screen.paint("one\ntwo\n")
    screen.paint("one\ntwo\n")
    assert stream.getvalue() == "\x1b[2J\x1b[H\x1b[1;1Hone\x1b[K\x1b[2;1Htwo\x1b[K\x1b[3;1H"
    stream.truncate(0)
    screen.paint("one\n")
    assert stream.getvalue().lstrip("\0") == "\x1b[2;1H\x1b[J\x1b[2;1H", "the second line is cleared"
    size[0] = (30, 10)
    screen.paint("one\n")
    assert "\x1b[2J" in stream.getvalue()


def test_colours_do_not_leak_into_the_next_row() -> None:
    assert wrap("\x1b[31mredred\x1b[0m", 3) == ["\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"]
