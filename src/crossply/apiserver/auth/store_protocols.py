"""The parts of the store that authentication and RBAC use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

Key = tuple[str, str, str]
"""Resource, namespace and name."""


class ReadableStore(Protocol):
    def get(self, key: Key) -> Any:
        """The durable entry of an object, or None."""


class WritableStore(Protocol):
    def latest(self, key: Key) -> Any:
        """The newest entry of an object, durable or not, or None."""

    def write(self, key: Key, expected: int | None, encode: Callable[[int], bytes]) -> Awaitable[Any]:
        """Store an object if its revision is the expected one (None: if it does not exist)."""
