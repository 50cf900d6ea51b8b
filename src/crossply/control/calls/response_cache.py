"""Responses of functions in memory, until they expire.

A fatal response is not cached: its cause may be fixed at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from crossply.compose.function_messages import SECOND, Request, Response
from crossply.compose.requirements import is_fatal
from crossply.compose.wire_codec import encode_response, request_tag
from crossply.control.calls.response_store import ResponseStore
from crossply.control.calls.runner_protocol import Answer
from crossply.values.bounded_cache import BoundedCache

_MAX_BYTES = 64 << 20
"""Roughly how much memory cached responses take."""
_VALUE_BYTES = 120
"""Roughly how much a map entry or list item takes when decoded, however small it is encoded."""


class ResponseCache:
    """The last responses, by function and request."""

    def __init__(
        self, store: ResponseStore | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`store` has those that survive a restart."""
        self._store = store
        self._clock = clock
        self._entries: BoundedCache[tuple[str, str], tuple[float, Response]] = BoundedCache(_MAX_BYTES)

    def get(self, function: str, request: Request, revision: str = "") -> Answer | None:
        """The response to the same request if it has not expired.

        `revision` is what it is stored under on disk; empty where it is not stored.
        """
        tag = request_tag(request)
        entry = self._entries.get((function, tag))
        if entry is not None and entry[0] > self._clock():
            return Answer(entry[1], entry[0] - self._clock())
        if self._store is None or not revision:
            return None
        stored = self._store.get(revision, tag)
        return None if stored is None else self._put(function, tag, *stored)

    def put(self, function: str, request: Request, response: Response, revision: str = "") -> Answer:
        """Cache a response for as long as it says."""
        seconds = (response.ttl or 0) / SECOND
        if seconds <= 0 or is_fatal(response):
            return Answer(response)
        tag = request_tag(request)
        if self._store is not None and revision:
            self._store.put(revision, tag, request, response, seconds)
        return self._put(function, tag, response, seconds)

    def _put(self, function: str, tag: str, response: Response, seconds: float) -> Answer:
        if not isinstance(response.tag, str):
            # The request would stay in memory with its response.
            response = response._replace(tag=request_tag(response.tag))
        expires = self._clock() + seconds
        self._entries.put((function, tag), (expires, response), _memory_of(encode_response(response)))
        return Answer(response, seconds)

    def clear(self) -> None:
        self._entries.clear()


def _memory_of(encoded: bytes) -> int:
    """Roughly how many bytes a response takes: all map entries and list items start with the same tag."""
    return len(encoded) + _VALUE_BYTES * encoded.count(b"\n")
