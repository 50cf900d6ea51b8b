"""Revisions in containers of this machine: pulled, called, and given new certificates between two calls."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from datetime import timedelta

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.control.calls.endpoint import Endpoint
from crossply.control.controller_context import plane_for
from crossply.control.package_manager.settings import PackageSettings
from crossply.control.runtimes.certificate_authority import Lifetimes
from crossply.control.runtimes.container_runtime_assembly import ImageSettings
from crossply.control.runtimes.mutual_tls_certificates import CredentialSettings
from crossply.control.runtimes.package_runtime_choice import parse_runtimes
from crossply.control.runtimes.runtime_set import Runtimes, RuntimeSettings
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from tests.support import registry as peers
from tests.support.container_images import go_image
from tests.support.control.runtimes import Revision, runtime_says
from tests.support.programs import ENGINE, needs

pytestmark = [
    needs(ENGINE, "docker-registry"),
    pytest.mark.xdist_group("packages"),
    pytest.mark.usefixtures("installed", "alone"),
]

DESIRED = State(None, {"a": Resource({"kind": "A"})})
REQUEST = Request(State(Resource({"kind": "XR"})), DESIRED)
SHORT = Lifetimes(certificate=timedelta(seconds=12), skew=timedelta(0))
"""Renewed after 8 seconds. The other 4 are for a new container to start in, on a busy machine, too."""


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    with peers.docker_registry(tmp_path_factory.mktemp("registry")) as address:
        peers.pushed(address, go_image(), "function-go:v1")
        yield f"{address}/function-go:v1"


@contextlib.asynccontextmanager
async def containers(client, ns, directory, lives=Lifetimes()):  # noqa: B008 - it is immutable
    """The part of a control plane that runs functions in containers; gives how a revision is called."""
    settings = RuntimeSettings(parse_runtimes("Container"), CredentialSettings(ns, lives=lives))
    async with Client(client.config) as own:
        plane = plane_for(own)
        place = ImageSettings(PackageSettings(namespace=ns), str(directory))
        running = Runtimes(plane, settings, images=place)
        async with plane.informers:
            try:
                await running.start()
                yield (
                    lambda name: plane.functions.factory.connect(
                        Endpoint("f", "", f"container:///{name}", name)
                    ),
                    running,
                )
            finally:
                await running.stop()
                await plane.recorder.settle()


async def test_certificates_are_replaced_while_calls_go_on(client, ns, image, tmp_path):
    async with containers(client, ns, tmp_path, SHORT) as (opener, running):
        revision = await (await Revision(client).make(image=image)).establish()
        await revision.until(runtime_says("True"))
        runner, renewals, calls = opener(revision.name), set(), 0
        while len(renewals) < 3:
            several = (asyncio.to_thread(runner, REQUEST, 20.0) for _ in range(4))
            assert {response.desired == DESIRED for response in await asyncio.gather(*several)} == {True}
            renewals.add(running._containers._running[revision.name].renewal)
            calls += 1
        assert calls > len(renewals)


async def test_the_condition_of_a_revision_has_the_reason_why_it_does_not_run(client, ns, image, tmp_path):
    async with containers(client, ns, tmp_path) as (_, _):
        missing = await (await Revision(client).make(image=f"{image}-no")).establish()
        live = await missing.until(runtime_says("False"))
        [condition] = [item for item in live["status"]["conditions"] if item["type"] == "RuntimeHealthy"]
        assert f"{image}-no" in condition["message"]
        never = await (await Revision(client).make(image=image, packagePullPolicy="Never")).establish()
        await never.until(
            runtime_says(
                "False",
                f"post establish runtime hook failed for package: the image "
                f"{image} is not here, and its pull policy is Never",
            )
        )


async def test_a_revision_is_called_before_it_is_established_and_not_after_it_is_gone(
    client, ns, image, tmp_path
):
    async with containers(client, ns, tmp_path) as (opener, _):
        revision = await Revision(client).make(image=image)  # not established: it must not run
        await revision.until(lambda live: live["status"]["endpoint"])
        runner = opener(revision.name)
        assert (await asyncio.to_thread(runner, REQUEST, 30.0)).desired == DESIRED
        runner.close()
        absent_runner = opener(f"gone-{secrets.token_hex(4)}")
        with pytest.raises(CrossplyError, match="is gone"):
            await asyncio.to_thread(absent_runner, REQUEST, 5.0)
