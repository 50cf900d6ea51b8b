"""A control plane in the process of a test, with options that no running one has."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from crossply.control.control_plane import ControlPlane
from crossply.control.options import Options
from crossply.control.webhooks.webhook_address import WebhookSettings
from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from tests.support.e2e.scenario import Scenario, scenario_on


@contextlib.asynccontextmanager
async def scenario_with(
    config: ClusterConfig, options: Options, webhooks: WebhookSettings | None = None
) -> AsyncIterator[Scenario]:
    """A scenario with controllers of its own for an API server."""
    async with Client(config) as own:
        plane = ControlPlane(own, webhooks=webhooks, options=options)
        await plane.start()
        try:
            async with scenario_on(config) as scenario:
                yield scenario
        finally:
            await plane.stop()
    # As aiohttp's documentation advises: connections that were cut while they were made close later.
    await asyncio.sleep(0.25)
