"""The containers that stay started for the next call; their number is limited."""

from __future__ import annotations

import threading
from typing import Protocol

DEFAULT = 64


class WarmContainer(Protocol):
    """A container that is started."""

    def last_call(self) -> float:
        """When it was last called."""
        ...

    def cool_down(self) -> None:
        """Stop it, unless it is being started."""
        ...


class WarmPool:
    """Where more are started than may be, those not called for longest are stopped."""

    def __init__(self, most: int = DEFAULT) -> None:
        self._most = most
        self._warm: dict[int, WarmContainer] = {}
        self._lock = threading.Lock()

    def started(self, container: WarmContainer) -> None:
        """One more is warm."""
        with self._lock:
            self._warm[id(container)] = container
            oldest_first = sorted(self._warm.values(), key=lambda container: container.last_call())
            surplus = [container_ for container_ in oldest_first if container_ is not container][
                : max(len(oldest_first) - self._most, 0)
            ]
        for container_ in surplus:
            container_.cool_down()

    def stopped(self, container: WarmContainer) -> None:
        """One less is."""
        with self._lock:
            self._warm.pop(id(container), None)

    def __len__(self) -> int:
        return len(self._warm)
