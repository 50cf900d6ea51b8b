"""Pulls of images for the container runtime are cancelled when they are no longer needed."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web

from crossply.containers.image_store import Store
from crossply.control.package_manager.package_fetcher import PackageFetcher
from crossply.control.package_manager.settings import PackageSettings
from crossply.control.runtimes.pulled_images import RevisionImages
from crossply.control.runtimes.runtime import NotRunning
from crossply.xpkg.image import encode
from tests.support.images import package
from tests.support.registry import ScriptedRegistry

pytestmark = pytest.mark.usefixtures("installed")


async def test_the_image_of_a_revision_that_is_deleted_is_pulled_no_further(client, ns, tmp_path):
    async with ScriptedRegistry().running() as registry:
        registry.serve_image(package())
        requested, released = asyncio.Event(), asyncio.Event()

        async def hang(request: web.Request) -> web.StreamResponse:
            requested.set()
            await released.wait()
            return web.Response()

        registry.handlers[f"/v2/acme/x/blobs/{encode(package()).config.digest}"] = hang
        settings = PackageSettings(str(tmp_path / "packages"), namespace=ns, service_account="")
        images = RevisionImages(PackageFetcher(client, settings), Store(str(tmp_path / "store")))
        revision = {"metadata": {"name": "x-1"}, "spec": {"image": f"{registry.address}/acme/x:v1"}}
        waiting = asyncio.create_task(images.fetch(revision, 60))
        await requested.wait()
        images.cancel(revision)
        with pytest.raises(NotRunning, match=r"was no longer wanted$"):
            await waiting
        assert [path.name for path in (tmp_path / "store").glob("pull-*")] == []
        released.set()
        await images.close()
