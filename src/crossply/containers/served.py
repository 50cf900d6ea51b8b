"""A container that serves calls for as long as it is needed: a function's, with gRPC on port 9443.

It is started at the first call, started anew after it ended (later and later when it ends again and again),
and stopped when nobody called for a while.
"""

from __future__ import annotations

from crossply.containers.settings import Settings
from crossply.containers.store import StoredImage

PORT = 9443


class ServedContainer:
    """One function's container, started when it is needed. It can be used from several threads at once."""

    def __init__(self, name: str, image: StoredImage, settings: Settings) -> None:
        self.name = name

    def target(self, timeout: float) -> str:
        """Where gRPC reaches the container (`unix:/…`), started and accepting calls, within `timeout`.

        Raises ContainerEnded (OutOfMemory), NotListening or another ContainerError.
        """
        raise NotImplementedError

    def raise_if_it_ends(self, within: float) -> None:
        """After a broken connection: raise what ended the container, if it ends in the next moments."""

    def warm(self) -> None:
        """Start it in the background, before the first call."""

    def close(self) -> None:
        """Stop it; the next call would start it again."""
