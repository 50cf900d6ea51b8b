"""A replica's sign of life, and the proof that others have not given it up.

While `fresh`, a member may act on what it holds: it sent a renewal that succeeded less than the fence ago, so
it cannot have been evicted yet. When the fence passes without another it breaks its connections, so that
nothing more leaves it; the kernel ends a process that could not do so because it was frozen. A member whose
heartbeat was deleted has been evicted; it joins again, under a new identity and without shards.

A process that was frozen past its fence must not run on, not even to the end of a write. No check before the
write can ensure that: the process may be frozen between the check and the write. So the kernel is the
watchdog: it delivers a signal that is due before the process executes anything again, and that signal ends
the process.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import signal
import time
from collections.abc import Callable

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import Conflict, NotFound
from crossply.kube.lease_objects import LEASE, Timing, member_name, micro_time, new_lease

PAUSE_SECONDS = 0.5
"""Between a renewal that failed and the next."""

_log = logging.getLogger("crossply.kube")


def steady_clock() -> float:
    """A monotonic time in seconds, which advances during suspend where the system supports that."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


Watchdog = Callable[[float], None]
"""Called with the seconds after which this process must end unless it is called again; 0 calls it off."""


def kernel_alarm(seconds: float) -> None:
    """End this process with SIGALRM after so many seconds, even if it is stopped in between."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


def no_alarm(seconds: float) -> None:
    """For those who share a process with others and may not end it: the guard alone has to do."""


class Heartbeat:
    """One replica's membership of one group."""

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        group: str,
        replica: str,
        timing: Timing,
        watchdog: Watchdog = no_alarm,
        clock: Callable[[], float] = steady_clock,
    ) -> None:
        self.member = ""
        """Who we are; empty where we have not joined. No identity is ever used twice."""
        self._client = client
        self._namespace = namespace
        self._group = group
        self._replica = re.sub("[^a-z0-9.-]", "-", replica.lower()).strip("-.")
        self._timing = timing
        self._watchdog = watchdog
        self._clock = clock
        self._uid = ""
        self._renewed = float("-inf")
        """When the last renewal that succeeded was sent."""
        self._lapse: asyncio.TimerHandle | None = None

    def fresh(self) -> bool:
        """Whether this replica cannot have been evicted yet."""
        return self._clock() < self._renewed + self._timing.fence

    async def run(self, changed: Callable[[], None]) -> None:
        """Beat until cancelled; `changed` is called whenever we may have become fresh or ceased to be."""
        while True:
            sent = self._clock()
            alive = await self._beat(sent, changed)
            changed()
            pause = sent + self._timing.renew - self._clock() if alive else PAUSE_SECONDS
            await asyncio.sleep(max(pause, 0.0))

    async def _beat(self, sent: float, changed: Callable[[], None]) -> bool:
        try:
            # A slow server is waited for, as long as there is something to win.
            async with asyncio.timeout(self._timing.fence - self._timing.renew):
                await (self._renew() if self.member else self._join())
        except (CrossplyError, Conflict, TimeoutError) as problem:
            if self.member and isinstance(problem, NotFound | Conflict):
                self._evicted()
            else:
                _log.warning("the lease of %s was not renewed: %s", self._replica, problem or "no answer")
            return False
        self._prolong(sent, changed)
        return True

    def _prolong(self, sent: float, changed: Callable[[], None]) -> None:
        """Extend the time until eviction, which counts from when the renewal was sent."""
        # What was refused while the lease was stale is retried only if `changed` runs before the renewal.
        changed()
        self._renewed = sent
        age = self._clock() - sent
        if age < self._timing.fence:
            self._watchdog(self._timing.dead - age)
            self._cancel_lapse()
            lapse = asyncio.get_running_loop().call_later
            self._lapse = lapse(self._timing.fence - age, self._lapsed, changed)

    def _lapsed(self, changed: Callable[[], None]) -> None:
        """The fence has passed: what was not sent yet never is, so there is no need to end."""
        self._client.sever()
        self._watchdog(0.0)
        changed()

    def _cancel_lapse(self) -> None:
        if self._lapse is not None:
            self._lapse.cancel()
            self._lapse = None

    async def _join(self) -> None:
        member = f"{self._replica}-{secrets.token_hex(4)}"
        name = member_name(self._group, member)
        lease = new_lease(self._group, self._namespace, name, member, self._timing.lease)
        created = await self._client.create(LEASE, lease)
        self.member, self._uid = member, created["metadata"]["uid"]

    async def _renew(self) -> None:
        # No version is named: a deletion of the heartbeat names one, so of the two only one succeeds.
        patch = {"metadata": {"uid": self._uid}, "spec": {"renewTime": micro_time()}}
        await self._client.patch_merge(LEASE, member_name(self._group, self.member), patch, self._namespace)

    def _evicted(self) -> None:
        _log.warning("%s was evicted and joins again", self.member)
        self.member, self._renewed = "", float("-inf")

    async def leave(self) -> None:
        """Delete the heartbeat: what we hold is free from now on."""
        member, self.member, self._renewed = self.member, "", float("-inf")
        if member:
            await self._client.delete(LEASE, member_name(self._group, member), self._namespace, uid=self._uid)
        self._cancel_lapse()
        self._watchdog(0.0)
