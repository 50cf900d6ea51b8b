"""Points where a provider may crash: around each effect of a reconcile, after each call of its client."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


class Crash(BaseException):
    """The provider's process ends here. It is no Exception, so that nothing catches it."""


class CrashPoints:
    """Counts the points that a run passes, and crashes at one of them."""

    def __init__(self, crash_at: int | None = None) -> None:
        self._crash_at = crash_at
        self.passed: list[str] = []
        """The names of the points so far."""
        self.is_armed = False
        """Whether points count: what a test does itself is no part of the provider."""

    def passes(self, name: str) -> None:
        """Pass a point; raises Crash where it is the one."""
        if not self.is_armed:
            return
        self.passed.append(name)
        if len(self.passed) - 1 == self._crash_at:
            raise Crash(name)

    def wrap(self, client: Any) -> None:
        """Make the public methods of a client points, where it lets us. It stays the object that it is."""
        for name, method in inspect.getmembers(type(client), inspect.isfunction):
            if not name.startswith("_"):
                try:
                    setattr(client, name, self._wrapped(name, method.__get__(client)))
                except AttributeError:
                    return

    def _wrapped(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(method):

            @functools.wraps(method)
            async def awaited(*args: Any, **kwargs: Any) -> Any:
                result = await method(*args, **kwargs)
                self.passes(f"after client.{name}")
                return result

            return awaited

        @functools.wraps(method)
        def called(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            self.passes(f"after client.{name}")
            return result

        return called
