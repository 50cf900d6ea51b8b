"""Sessions of browsers: a random cookie, a CSRF token, and whose rights the session has."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

IDLE_SECONDS = 12 * 3600.0
MOST_SESSIONS = 100


class Closable(Protocol):
    async def close(self) -> None: ...


V = TypeVar("V", bound=Closable)


class Session:
    """One browser."""

    __slots__ = ("csrf", "id", "last_used", "viewer")

    def __init__(self, viewer: Closable, now: float) -> None:
        self.id = secrets.token_urlsafe(32)
        self.csrf = secrets.token_urlsafe(32)
        self.viewer = viewer
        self.last_used = now

    def has_csrf(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self.csrf.encode())


class Sessions:
    """All sessions; a viewer is closed with its last session."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._by_id: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, session_id: str) -> Session | None:
        """The session of a cookie, if it has not expired."""
        session = self._by_id.get(session_id)
        if session is None or self._clock() - session.last_used > IDLE_SECONDS:
            return None
        session.last_used = self._clock()
        return session

    async def open(self, viewer: Closable) -> Session:
        """A new session; those that expired, and the oldest of too many, end."""
        now = self._clock()
        for session in list(self._by_id.values()):
            if now - session.last_used > IDLE_SECONDS or len(self._by_id) >= MOST_SESSIONS:
                await self.end(session)
        session = Session(viewer, now)
        self._by_id[session.id] = session
        return session

    async def end(self, session: Session) -> None:
        self._by_id.pop(session.id, None)
        if not any(other.viewer is session.viewer for other in self._by_id.values()):
            await session.viewer.close()

    async def close(self) -> None:
        for session in list(self._by_id.values()):
            await self.end(session)
