"""Waiting for a cache, but not for ever: whoever starts us is to know why it does not come."""

from __future__ import annotations

import asyncio

from crossply.kube.informer import Informer

_PATIENCE = 15.0


async def why_not_followed(cache: Informer) -> str:
    """Wait until a cache is up to date; says why it is not after a while, and nothing where it is."""
    try:
        async with asyncio.timeout(_PATIENCE):
            await cache.synced.wait()
    except TimeoutError:
        return str(cache.trouble or "the API server does not answer")
    return ""
