"""Watching what functions required: a change of such a kind wakes the composite resources that asked."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from crossply.kube.cache import Cache
from crossply.kube.caches import Caches
from crossply.kube.kind import Kind


class Required:
    """Which composite resources look at which kinds."""

    def __init__(self, caches: Caches) -> None:
        self._caches = caches
        self._watched: dict[Kind, Cache] = {}
        self._interested: dict[Kind, dict[Hashable, Callable[[], None]]] = {}

    def follow(self, kind: Kind, who: Hashable, wake: Callable[[], None]) -> None:
        """Wake `who` when anything of a kind changes, from now on."""
        self._interested.setdefault(kind, {})[who] = wake
        if kind not in self._watched:
            cache = self._watched[kind] = self._caches.acquire(kind)
            cache.subscribe(lambda *_: self._wake(kind))

    def _wake(self, kind: Kind) -> None:
        if self._watched[kind].synced.is_set():
            for wake in self._interested.get(kind, {}).values():
                wake()
