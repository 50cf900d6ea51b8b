"""What a controller is to whoever runs it, and what that one does for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from crossply.kube.cache import Cache

Wake = Callable[[str], None]
"""Has a controller look at an object again."""


class Controller(Protocol):
    """Brings one named object in line."""

    name: str

    async def reconcile(self, name: str) -> float | None:
        """Look at the object, and do what is due; after so many seconds it is looked at again anyway."""
        ...


@runtime_checkable
class Attentive(Controller, Protocol):
    """A controller that also has something to do where another replica brings the object in line."""

    async def attend(self, name: str) -> None:
        """Follow what the other replica did; nothing can be written."""
        ...


class Follow(Protocol):
    """Has a controller look at everything in a cache; returns how to have it look at one again."""

    def __call__(self, controller: Controller, cache: Cache) -> Wake:
        """Begin."""
        ...
