"""Is there anybody? A look at the webhook server of another replica, as an API server would take it."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from urllib.parse import urlsplit

_PATIENCE = 3.0
"""Seconds; a replica that is frozen still accepts connections, but says nothing."""


async def answers(url: str, authorities: bytes) -> bool:
    """Whether a replica with a certificate of these authorities answers at a URL."""
    parts = urlsplit(url)
    context = ssl.create_default_context(cadata=authorities.decode())
    try:
        async with asyncio.timeout(_PATIENCE):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 443, ssl=context)
    except (OSError, ValueError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
