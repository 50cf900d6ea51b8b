"""`trace --watch` shows every change of the tree, and ends when its root is deleted."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess

import pytest

from crossply.cli.trace.watch import fit
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from tests.support.cli.trace_cluster import NAMESPACE, READY, SYNCED, World, refs, resource, to
from tests.support.server_process import CROSSPLY

SHOP = Kind("acme.test", "v1", "Shop", "shops", True)


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


def test_a_missing_child_that_comes_and_a_root_that_goes_are_seen_at_once(world: World) -> None:
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


def test_on_a_terminal_the_picture_is_painted_over_the_last_one(world: World) -> None:
    world.put(resource("Shop", "painted", spec={}))
    master, slave = pty.openpty()
    process = start(world, "painted", slave)

    async def case(client: Client) -> str:
        first = await read_until(master, "\x1b[J")
        await client.patch_merge(SHOP, "painted", {"status": {"conditions": [SYNCED, READY]}}, NAMESPACE)
        second = await read_until(master, "Available")
        await client.delete(SHOP, "painted", NAMESPACE)
        return first + "|" + second

    first, _, second = world.run(case).partition("|")
    assert process.wait(20) == 0
    assert process.stderr is not None
    process.stderr.close()
    os.close(slave)
    os.close(master)
    assert first.startswith("\x1b[2J\x1b[HNAME")
    assert "\x1b[HNAME" in second
    assert "\x1b[2J" not in second, "clearing would flicker"


def test_only_a_single_resource_can_be_watched(trace) -> None:
    code, out, _ = trace("stall -n town -w")
    assert (code, out.splitlines()[-1]) == (0, "error: you may only watch a single resource at a time")


@pytest.mark.parametrize(
    ("rows", "shown", "reason"),
    [
        (9, ["a", "b" * 25, "c", "d"], "all of it: six rows, as the second line takes three"),
        (6, ["a", "b" * 25, "… 2 more lines"], "no room for the last row"),
        (3, ["… 4 more lines"], "hardly any room"),
    ],
)
def test_a_picture_that_is_too_high_is_cut_off_below(rows: int, shown: list[str], reason: str) -> None:
    assert fit(["a", "b" * 25, "c", "d"], 10, rows) == shown, reason
