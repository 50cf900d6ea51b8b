"""One turn at a time, shared fairly: users take turns, however many each of them waits for."""

from __future__ import annotations

import asyncio
from collections import deque

from crossply.apiserver.http.flow_control import Flow


class FairTurns:
    """A lock whose waiters are served by priority level, then user by user."""

    def __init__(self) -> None:
        self._is_taken = False
        # The users of a level are in the order in which they are served next.
        self._waiting: dict[Flow, deque[asyncio.Future[None]]] = {}

    async def acquire(self, flow: Flow) -> None:
        """Wait for a turn, which has to be released."""
        if not self._is_taken:
            self._is_taken = True
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(flow, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()
            raise

    def release(self) -> None:
        """Let the next one have its turn."""
        while self._waiting:
            flow = max(self._waiting, key=lambda waiting: waiting.level.ceiling)
            turns = self._waiting.pop(flow)
            turn = turns.popleft()
            if turns:
                self._waiting[flow] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._is_taken = False

    def cancel_all(self) -> None:
        """Cancel everybody who waits."""
        for turns in self._waiting.values():
            for turn in turns:
                turn.cancel()
        self._waiting.clear()
