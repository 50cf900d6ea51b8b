"""A lock for each key: work on one does not wait for work on another."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager


class KeyedLocks:
    """Locks that exist while somebody holds them or waits for them. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[Hashable, tuple[threading.Lock, int]] = {}
        """With how many threads each has."""

    def __len__(self) -> int:
        return len(self._locks)

    @contextmanager
    def holding(self, key: Hashable) -> Iterator[None]:
        """Hold the lock of a key."""
        with self._guard:
            lock, users = self._locks.get(key) or (threading.Lock(), 0)
            self._locks[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                _, users = self._locks.pop(key)
                if users > 1:
                    self._locks[key] = lock, users - 1
