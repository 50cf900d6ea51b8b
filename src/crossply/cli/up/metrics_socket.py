"""The socket in the data directory through which `crossply top` reads the metrics of the control plane.

Who may open the data directory may read them; nothing is opened on the network.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from crossply.cli.local_control_plane.data_directory import METRICS_SOCKET
from crossply.record.http_pages import metrics_on_socket

_LOG = logging.getLogger("crossply.control")


@asynccontextmanager
async def figures_served(data: str) -> AsyncIterator[None]:
    """Serve the metrics in the data directory. A path that is too long for a socket is only logged."""
    path = os.path.join(data, METRICS_SOCKET)
    async with AsyncExitStack() as stack:
        try:
            with suppress(FileNotFoundError):
                os.unlink(path)  # of one that was killed
            await stack.enter_async_context(metrics_on_socket(path))
        except OSError as problem:
            _LOG.warning(
                "crossply top shows no rates: cannot serve %s: %s", path, problem.strerror or problem
            )
        yield
