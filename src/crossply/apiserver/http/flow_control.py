"""Priority and fairness: how much of each limit a user may use.

A small form of Kubernetes' API Priority and Fairness. The requests of one user are a flow, and each flow has
a priority level. A level may fill a limit only up to its ceiling, so the rest stays free for higher levels.
Below the ceiling a flow may use a fraction of what is still free: the more flows share a limit, the less each
gets, and some is left for a flow that uses nothing yet.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

from crossply.apiserver.auth.system_users_and_groups import MASTERS
from crossply.apiserver.endpoints.request_info import User


@dataclass(frozen=True, slots=True, eq=False)
class PriorityLevel:
    """What the flows of one level may use of a limit."""

    name: str
    ceiling: float
    """The fraction of a limit at which flows of this level are refused, counting the use of all levels."""
    share: float | None
    """How much one flow may use, as a fraction of what is free below the ceiling; None for all of it."""


EXEMPT = PriorityLevel("exempt", 1.0, None)
SYSTEM = PriorityLevel("system", 0.875, 1.0)
WORKLOAD = PriorityLevel("workload", 0.75, 0.5)

_SYSTEM_GROUPS = frozenset(
    {
        "system:nodes",
        "system:serviceaccounts:kube-system",
        "system:serviceaccounts:crossplane-system",
    }
)
_SYSTEM_USERS = "system:kube-"
"""The prefix of Kubernetes' own components, such as system:kube-controller-manager."""


class Flow(NamedTuple):
    """The requests of one user."""

    user: str
    level: PriorityLevel


_OWN_FLOW = Flow("system:apiserver", EXEMPT)
current_flow: ContextVar[Flow] = ContextVar("current_flow", default=_OWN_FLOW)
"""The flow of the current request; the server's own outside of requests."""


def flow_of(user: User) -> Flow:
    if MASTERS in user.groups:
        return Flow(user.name, EXEMPT)
    if user.name.startswith(_SYSTEM_USERS) or not _SYSTEM_GROUPS.isdisjoint(user.groups):
        return Flow(user.name, SYSTEM)
    return Flow(user.name, WORKLOAD)


class FairBudget:
    """An amount that flows share: requests, or bytes of memory."""

    __slots__ = ("_amount", "_by_user", "_used")

    def __init__(self, amount: int) -> None:
        self._amount = amount
        self._used = 0
        self._by_user: dict[str, int] = {}

    def take(self, flow: Flow, amount: int) -> bool:
        """Reserve an amount, if the flow may use it. A flow that uses nothing yet gets all that is free."""
        level = flow.level
        free = max(1, int(self._amount * level.ceiling)) - self._used
        if amount > free:
            return False
        used = self._by_user.get(flow.user, 0)
        if used and level.share is not None and used + amount > free * level.share:
            return False
        self._used += amount
        self._by_user[flow.user] = used + amount
        return True

    def give(self, flow: Flow, amount: int) -> None:
        """Return an amount."""
        self._used -= amount
        left = self._by_user.get(flow.user, 0) - amount
        if left > 0:
            self._by_user[flow.user] = left
        else:
            self._by_user.pop(flow.user, None)


class Reservation:
    """What one request has reserved of a budget; it grows until it is released."""

    __slots__ = ("_budget", "_flow", "amount")

    def __init__(self, budget: FairBudget, flow: Flow) -> None:
        self._budget = budget
        self._flow = flow
        self.amount = 0

    def take(self, amount: int) -> bool:
        if not self._budget.take(self._flow, amount):
            return False
        self.amount += amount
        return True

    def release(self) -> None:
        self._budget.give(self._flow, self.amount)
        self.amount = 0


class FairLock:
    """A lock whose waiters are served by priority level, then round-robin by user."""

    def __init__(self) -> None:
        self._locked = False
        # The users of a level are in the order in which they are served next.
        self._waiting: dict[Flow, deque[asyncio.Future[None]]] = {}

    async def acquire(self, flow: Flow) -> None:
        if not self._locked:
            self._locked = True
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
        """Wake the next waiter."""
        while self._waiting:
            flow = max(self._waiting, key=lambda waiting: waiting.level.ceiling)
            turns = self._waiting.pop(flow)
            turn = turns.popleft()
            if turns:
                self._waiting[flow] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._locked = False

    def cancel_all(self) -> None:
        for turns in self._waiting.values():
            for turn in turns:
                turn.cancel()
        self._waiting.clear()
