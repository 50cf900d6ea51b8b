"""Controllers that retry nothing during a test: a waiting object must be enqueued by its watch."""

from __future__ import annotations

import asyncio
from typing import Any

from crossply.control.options import Options
from crossply.values.backoff import RetryPauses
from tests.support.e2e.pipelines import entry, resources
from tests.support.e2e.scenario import Scenario
from tests.support.e2e.traffic import traffic

HOUR = 3600.0
PACKAGES = "pkg.crossplane.io"
OPTIONS = Options(retry=RetryPauses(HOUR, HOUR), operations=True)


def one_config_map(name: str = "one") -> Any:
    """A pipeline of one ConfigMap."""
    return resources(entry(name))


async def packages_at_rest(s: Scenario) -> None:
    """Wait until nothing is asked about packages: a first failure is retried once after a second."""
    while True:
        before = await traffic(s.client)
        await asyncio.sleep(1.5)
        if not any(group == PACKAGES for _, group, *_ in await traffic(s.client) - before):
            return
