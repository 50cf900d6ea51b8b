"""Providers in `crossply up` as processes: they run, come back, and end with the control plane."""

from __future__ import annotations

import os

import pytest

from crossply.values.yaml import dump
from tests.support.cli.local_provider import (
    META,
    PROVIDER,
    THING,
    client_of,
    condition,
    provider,
    thing,
    until,
    write_provider,
)
from tests.support.cli.up_process import eventually, kill, plane_at

pytestmark = pytest.mark.xdist_group("up")


def pids(plane) -> list[int]:
    log = plane.data / "logs" / "provider" / "provider-try.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [int(line.split()[1]) for line in lines if line.startswith("pid ")]


def is_running(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


async def healthy(client):
    live = await client.get(PROVIDER, "provider-try")
    return live if condition(live, "Healthy")[0] == "True" else None


async def test_a_provider_of_a_directory_runs_comes_back_and_ends_with_the_control_plane(tmp_path):
    directory = tmp_path / "provider"
    write_provider(directory)
    with plane_at(tmp_path / "data") as plane:
        assert plane.up("--allow-local-commands").returncode == 0
        async with client_of(plane.data) as client:
            await client.create(PROVIDER, provider(directory))
            first = (await until(lambda: healthy(client)))["status"]["currentRevision"]
            await client.create(THING, thing())
            assert await until(lambda: served_by(client)) == first

            os.kill(pids(plane)[0], 9)
            await until(lambda: started(plane, 2))
            await until(lambda: healthy(client))

            write_provider(directory, "second")
            second = await until(lambda: succeeded(client, first))
            await client.delete(THING, "one", "default")
            await until(lambda: gone(client))
            await client.create(THING, thing())
            assert await until(lambda: served_by(client)) == second
            eventually(lambda: len([pid for pid in pids(plane) if is_running(pid)]) == 1)

            before = len(pids(plane))
            await client.delete(PROVIDER, "provider-try")
            eventually(lambda: not any(map(is_running, pids(plane))))
            eventually(lambda: not os.listdir(plane.data / "providers"))  # no key and no token is left
            await client.create(PROVIDER, provider(directory))
            await until(lambda: started(plane, before + 1))
        kill(plane.process)
        eventually(lambda: not any(map(is_running, pids(plane))))


BROKEN = """
import sys, time
print("no such database: orders", flush=True)
time.sleep(1)
sys.exit(3)
"""


async def test_a_provider_that_exits_after_a_second_is_never_healthy_and_has_a_reason(tmp_path):
    directory = tmp_path / "provider"
    (directory / "package").mkdir(parents=True)
    (directory / "crossplane.yaml").write_text(dump({**META, "metadata": {"name": "provider-broken"}}))
    (directory / "main.py").write_text(BROKEN)
    conditions: list[tuple[str, str]] = []

    async def failed_twice(client):
        conditions.append(condition(await client.get(PROVIDER, "provider-broken"), "Healthy"))
        return "started again in 0.5 s" in conditions[-1][1]

    with plane_at(tmp_path / "data") as plane:
        # Something else runs packages of Providers; those that an annotation names are started all the same.
        assert plane.up("--allow-local-commands", "--package-runtime=Provider=External").returncode == 0
        async with client_of(plane.data) as client:
            await client.create(PROVIDER, provider(directory, name="provider-broken"))
            await until(lambda: failed_twice(client))
    assert "True" not in {status for status, _ in conditions}
    assert "it ended with exit status 3" in conditions[-1][1]
    assert "no such database: orders" in conditions[-1][1]


async def served_by(client):
    return ((await client.get(THING, "one", "default")).get("status") or {}).get("by")


async def gone(client):
    return await client.get(THING, "one", "default") is None


async def started(plane, count):
    return len(pids(plane)) >= count


async def succeeded(client, revision):
    live = await healthy(client)
    current = live["status"]["currentRevision"] if live else revision
    return current if current != revision else None
