"""Why a program cannot be put together from its modules."""

from __future__ import annotations

CONTAINER_HINT = "run the published function: annotate the Function with crossply.dev/runtime: container"


class ModuleError(Exception):
    """A module cannot be used. It never leaves the function: it becomes a fatal result."""
