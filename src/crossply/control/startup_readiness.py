"""Why a control plane has not started yet: the kinds that it needs and may not list.

A start waits for rights rather than failing: they may be granted after it. Until then /readyz and the log say
which are missing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from crossply.control.rbac_grant_commands import explained
from crossply.kube.informer import Informer

STARTING = "starting"
_REPORT_SECONDS = (5.0, 60.0)
"""Pauses before the first report in the log and between the others."""
_log = logging.getLogger("crossply.control")


def start_progress(caches: Iterable[Informer]) -> str:
    """What a start waits for, for /readyz and the log: each kind that cannot be listed, and why."""
    reasons = [
        f"cannot list {cache.kind.resource}: {explained(str(cache.trouble), cache.trouble)}"
        for cache in caches
        if cache.trouble is not None and not cache.synced.is_set()
    ]
    return "\n".join([STARTING, *sorted(reasons)])


async def report_start(progress: Callable[[], str]) -> None:
    """Log why the start does not go on, until cancelled."""
    first, others = _REPORT_SECONDS
    await asyncio.sleep(first)
    while True:
        text = progress()
        if text != STARTING:
            _log.error("the control plane does not start: %s", text.partition("\n")[2])
        await asyncio.sleep(others)
