"""`python -P -m crossply.provider DIR`: a provider as a process, which may be killed at any time."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from contextlib import asynccontextmanager

import aiohttp
import pytest
from tests.support.patience import PATIENCE
from tests.support.ports import free_port
from tests.support.provider.provider_case import BOX, DIRECTORY, LID, ProviderCase, condition


@pytest.fixture
async def case(client, ns, tmp_path):
    directory = tmp_path / "external"
    directory.mkdir()
    provider_case = ProviderCase(client, ns, str(directory))
    await provider_case.install()
    return provider_case


@asynccontextmanager
async def process(server, tmp_path, port=0, **environment):
    """A provider that is started again whenever it dies, as a kubelet would."""
    arguments = (sys.executable, "-P", "-m", "crossply.provider", DIRECTORY, "--port", str(port))
    variables = {**os.environ, "KUBECONFIG": server.kubeconfig, **environment}
    statuses = []

    async def run():
        while True:
            with open(tmp_path / "log", "a") as log:
                child = await asyncio.create_subprocess_exec(
                    *arguments, env=variables, stderr=log, cwd=tmp_path
                )
            try:
                statuses.append(await child.wait())
            except asyncio.CancelledError:
                child.send_signal(signal.SIGTERM)
                statuses.append(await asyncio.wait_for(child.wait(), PATIENCE))
                raise

    task = asyncio.create_task(run())
    try:
        yield statuses
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert statuses[-1] == 0, (tmp_path / "log").read_text()


def killed_at(tmp_path, *points):
    return {"PROVIDER_KILL_AT": ",".join(points), "PROVIDER_KILL_MARKERS": str(tmp_path)}


async def test_kill_9_leaks_nothing_and_makes_nothing_twice(case, server, tmp_path):
    points = "after create", "after update", "after delete"
    async with process(server, tmp_path, **killed_at(tmp_path, *points)) as statuses:
        await case.managed(BOX, "one", {"content": "books"})
        await case.until_ready(BOX, "one")
        await case.patch(BOX, "one", {"spec": {"forProvider": {"content": "shoes"}}})
        await case.until_ready(BOX, "one")
        assert case.files()["one"]["content"] == "shoes"
        await case.client.delete(BOX, "one", case.namespace)
        await case.until_gone(BOX, "one")
    assert statuses == [*[-signal.SIGKILL] * len(points), 0]
    assert case.files() == {}
    assert case.log().count("create one") == 1


async def test_kill_9_after_a_creation_whose_name_is_lost_needs_a_user(case, server, tmp_path):
    async with process(server, tmp_path, **killed_at(tmp_path, "after create of a lid")):
        await case.managed(LID, "one", {})
        lid = await case.until(LID, "one", lambda lid: condition(lid, "Synced"))
    assert condition(lid, "Synced")["message"].startswith("cannot determine creation result")
    assert len(case.files()) == 1


async def test_the_process_reports_its_readiness(case, server, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.setblocking(False)
        async with process(server, tmp_path, NOTIFY_SOCKET=str(tmp_path / "notify")):
            loop = asyncio.get_running_loop()
            states = [await asyncio.wait_for(loop.sock_recv(listener, 100), PATIENCE) for _ in range(2)]
    assert states == [b"STATUS=starting", b"READY=1"]


async def test_the_process_serves_its_health_and_metrics(case, server, tmp_path):
    port = free_port()
    async with process(server, tmp_path, port):
        await case.managed(BOX, "one", {"content": "books"})
        await case.until_ready(BOX, "one")
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
            for path in ("/healthz", "/readyz"):
                async with session.get(path) as response:
                    assert (response.status, await response.text()) == (200, "ok")
            async with session.get("/metrics") as response:
                metrics = await response.text()
    kind = 'gvk="boxes.example.org/v1alpha1, Kind=Box"'
    assert f"crossplane_managed_resource_exists{{{kind}}} 1" in metrics
    assert f"crossplane_managed_resource_first_time_to_readiness_seconds_count{{{kind}}} 1" in metrics


async def test_a_directory_without_a_provider_is_an_error_with_a_hint(tmp_path):
    arguments = (sys.executable, "-P", "-m", "crossply.provider", str(tmp_path))
    child = await asyncio.create_subprocess_exec(*arguments, stderr=asyncio.subprocess.PIPE)
    _, errors = await child.communicate()
    assert child.returncode == 1
    assert errors.startswith(b"error: ")
    assert b"crossplane.yaml" in errors
