"""Counting requests to the API server: how many, how they were answered, how soon."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from crossply.record.metrics import CLIENT_REQUESTS, CLIENT_SECONDS

UNANSWERED = "<error>"


class Exchange:
    """One request that is under way; it ends once."""

    __slots__ = ("_begun", "_host", "_method")

    def __init__(self, method: str, host: str) -> None:
        self._method = method
        self._host = host
        self._begun: float | None = time.perf_counter()

    def end(self, code: str) -> None:
        """It was answered with a code, or not; what breaks after it began to answer is not counted."""
        if self._begun is not None:
            CLIENT_REQUESTS.of(code, self._method, self._host).value += 1
            CLIENT_SECONDS.of(self._method, self._host).add(time.perf_counter() - self._begun)
            self._begun = None


def host_of(server: str) -> str:
    """The host and port that figures are told under."""
    return urlsplit(server).netloc.rpartition("@")[2]
