"""Control planes that die: protection lasts meanwhile, and the next one does the rest."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import signal
import subprocess
import sys

import pytest

from crossply.control.usages.usage_model import IN_USE, USAGE
from crossply.control.webhooks.configuration import CONFIGURATIONS, url_in
from crossply.control.webhooks.configuration import NAME as CONFIGURATION
from crossply.kube.client import Client
from crossply.kube.failures import Denied, KubeError, Unreachable
from tests.support.control.usage_controllers import control_plane, delete_usages, is_ready, until, use
from tests.support.server_process import CONFIG_MAP, config_map

pytestmark = [
    pytest.mark.embedded_only("the control plane of a real cluster is that of the end-to-end tests"),
    pytest.mark.usefixtures("installed"),
]

FLAGS = ("--lease-duration=2s", "--metrics-port=0", "--health-probe-port=0")
CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")


class Dying(Client):
    """A client that makes so many writes to Usages and ConfigMaps, and then none any more."""

    def __init__(self, config, writes):
        super().__init__(config)
        self.left = writes
        self.dead = asyncio.Event()

    async def _call(self, method, verb, kind, path, subresource="", **options):
        if method != "GET" and kind in (USAGE, CONFIG_MAP):
            if not self.left:
                self.dead.set()
                raise Unreachable("the process has ended")
            self.left -= 1
        return await super()._call(method, verb, kind, path, subresource, **options)


@contextlib.asynccontextmanager
async def dying_plane(client, writes):
    """A control plane that dies after so many writes; nothing of it is cleaned up."""
    async with control_plane(client, own=Dying(client.config, writes)) as own:
        yield own
    # Connections that were cut while they were made close later.
    await asyncio.sleep(0.25)


@pytest.mark.parametrize("writes", range(4))
async def test_a_usage_is_set_up_wherever_its_control_plane_dies(client, ns, writes):
    for name in ("used", "using"):
        await client.create(CONFIG_MAP, config_map(name, ns))
    by = {"apiVersion": "v1", "kind": "ConfigMap", "resourceRef": {"name": "using"}}
    await use(client, ns, by=by)
    async with dying_plane(client, writes) as own:
        # Three writes are all there are: the last one has time until the Usage is ready.
        await (own.dead.wait() if writes < 3 else until(lambda: is_ready(client, ns)))
    used = await client.get(CONFIG_MAP, "used", ns)
    usage = await client.get(USAGE, "u", ns)
    if IN_USE in used["metadata"]["labels"]:
        assert usage["metadata"]["finalizers"], "what is marked has somebody to take the mark away"
    async with control_plane(client):
        usage = await until(lambda: is_ready(client, ns))
        assert len(usage["metadata"]["ownerReferences"]) == 1
        with pytest.raises(Denied):
            await client.delete(CONFIG_MAP, "used", ns)
        await delete_usages(client, ns)


@pytest.mark.parametrize("writes", range(3))
async def test_a_usage_ends_wherever_its_control_plane_dies(client, ns, writes):
    await client.create(CONFIG_MAP, config_map("used", ns))
    async with control_plane(client):
        await use(client, ns, replayDeletion=True)
        await until(lambda: is_ready(client, ns))
        with pytest.raises(Denied):
            await client.delete(CONFIG_MAP, "used", ns)
    await client.delete(USAGE, "u", ns)
    async with dying_plane(client, writes) as own:
        await own.dead.wait()
    assert await client.get(USAGE, "u", ns), "the Usage goes last, so that nothing is forgotten"
    async with control_plane(client):
        await delete_usages(client, ns)
    assert await client.get(CONFIG_MAP, "used", ns) is None


@contextlib.contextmanager
def controller(server, replica="one"):
    """A replica as a process of its own, which does not leave but ends."""
    command = [CROSSPLY, "controller", "--kubeconfig", server.kubeconfig, "--replica", replica, *FLAGS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"control plane ready\n"
            yield process
        finally:
            process.kill()


async def test_an_object_in_use_cannot_be_deleted_after_a_crash_and_after_the_restart(client, server, ns):
    await client.create(CONFIG_MAP, config_map("used", ns))
    with controller(server):
        await use(client, ns)
        await until(lambda: is_ready(client, ns))
    with pytest.raises(KubeError, match="failed calling webhook"):
        await client.delete(CONFIG_MAP, "used", ns)
    async with control_plane(client):
        with pytest.raises(Denied, match="in-use by 1 usage"):
            await client.delete(CONFIG_MAP, "used", ns)
        await delete_usages(client, ns)
        assert await client.delete(CONFIG_MAP, "used", ns)


@pytest.mark.parametrize("fate", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
async def test_another_replica_answers_when_the_serving_one_is_lost(client, server, ns, fate):
    async def url():
        return url_in(await client.get(CONFIGURATIONS, CONFIGURATION))

    await client.create(CONFIG_MAP, config_map("used", ns))
    with controller(server, "one"):
        first = await url()
        with controller(server, "two") as second:
            assert await url() != first
            await use(client, ns)
            await until(lambda: is_ready(client, ns))
            second.send_signal(fate)

            async def is_requested():
                return await url() == first

            await until(is_requested, 40)
            with pytest.raises(Denied, match="in-use by 1 usage"):
                await client.delete(CONFIG_MAP, "used", ns)
    async with control_plane(client):
        await delete_usages(client, ns)
