"""Starting while the disk of the API server is full: what is there already is good enough."""

from __future__ import annotations

import logging
from collections.abc import Awaitable

from crossply.compose.metadata import name_of
from crossply.kube.client import Client
from crossply.kube.failures import ServerFull
from crossply.kube.kind import Kind
from crossply.values import Object

_log = logging.getLogger("crossply.control")


async def installed(client: Client, kind: Kind, obj: Object, installation: Awaitable[object]) -> None:
    """Install an object. If the server is full and has an older version of it, that one stays.

    Raises ServerFull if there is none.
    """
    try:
        await installation
    except ServerFull as problem:
        if await client.get(kind, name_of(obj)) is None:
            raise
        _log.warning("%s %s stays as it is: %s", kind.kind, name_of(obj), problem)
