"""A control plane in the process of a test, with options that no running one has."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable

from crossply.control.control_plane import ControlPlane
from crossply.control.options import Options
from crossply.control.webhooks.address import WebhookSettings
from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from tests.support.e2e.scenario import PATIENCE, Scenario


def play_with(
    config: ClusterConfig,
    options: Options,
    scenario: Callable[[Scenario], Awaitable[None]],
    webhooks: WebhookSettings | None = None,
) -> None:
    """Play a scenario with controllers of its own for an API server."""

    async def played() -> None:
        async with Client(config) as own, Client(config) as client:
            plane = ControlPlane(own, webhooks=webhooks, options=options)
            await plane.start()
            try:
                async with asyncio.timeout(3 * PATIENCE):
                    corner = await Scenario.begin(client, f"t{secrets.token_hex(4)}")
                    await scenario(corner)
                    await corner.end()
            finally:
                await plane.stop()
        # As aiohttp's documentation advises: connections that were cut while they were made close later.
        await asyncio.sleep(0.25)

    asyncio.run(played())
