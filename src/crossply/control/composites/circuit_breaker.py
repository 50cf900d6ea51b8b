"""A limit to how often one composite resource is composed without anybody having edited it.

Two writers that undo each other's work, or a function that desires something else each time, would enqueue it
without end. Each run that no user requested costs a token. Without tokens the circuit is open: then it is
composed now and then, and says why, until it had time to cool down. An edit is never held up, and no event is
lost: what happened while the circuit was open is seen by the next run.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Hashable
from typing import Any

import orjson

from crossply.compose.conditions import RESPONSIVE
from crossply.compose.engine_field_paths import INFRASTRUCTURE, MODERN
from crossply.compose.events import StatusCondition
from crossply.control.controller_context import CircuitLimits
from crossply.record.control_plane_metrics import CircuitMeter
from crossply.values import Object

_SOURCES = 16
_REFERENCES = (MODERN.references, INFRASTRUCTURE.references)


class _Account:
    """One composite resource's tokens."""

    __slots__ = ("edited", "open_until", "probe_at", "sources", "time", "tokens")

    def __init__(self, now: float, limits: CircuitLimits) -> None:
        self.tokens = limits.burst
        self.time = now
        self.edited: Any = None
        self.open_until = 0.0
        self.probe_at = 0.0
        self.sources: deque[str] = deque(maxlen=_SOURCES)


class CircuitBreaker:
    """The accounts of all composite resources of a kind."""

    def __init__(
        self,
        limits: CircuitLimits = CircuitLimits(),  # noqa: B008 - a constant
        clock: Callable[[], float] = time.monotonic,
        controller: str = "unnamed",
    ) -> None:
        self._limits = limits
        self._meter = CircuitMeter(controller)
        self._clock = clock
        self._accounts: dict[Hashable, _Account] = {}

    def __contains__(self, key: Hashable) -> bool:
        """Whether a composite resource has an account."""
        return key in self._accounts

    def note(self, key: Hashable, source: str) -> None:
        """Something woke it."""
        self._account(key).sources.append(source)

    def spend(self, key: Hashable, xr: Object) -> float:
        """The seconds that a run must wait; 0 where it may begin."""
        account, now = self._account(key), self._clock()
        edited = _edits(xr)
        if account.edited != edited:
            account.edited = edited
            self._meter.allowed.value += 1
            return 0.0
        if account.open_until:
            return self._probe(account, now)
        if account.tokens >= 1:
            account.tokens -= 1
            self._meter.allowed.value += 1
            return 0.0
        self._meter.opened.value += 1
        account.open_until, account.probe_at = now + self._limits.cooldown, now + self._limits.probe
        return 0.0  # one more run, which says that the circuit is open

    def condition(self, key: Hashable) -> StatusCondition:
        """What the composite resource says about it."""
        account = self._accounts.get(key)
        if account is None or not account.open_until:
            return RESPONSIVE
        often = Counter(account.sources).most_common(1)
        source = often[0][0] if often else "unknown"
        message = f"Too many watch events from {source}. Allowing events periodically."
        return StatusCondition("Responsive", "False", "WatchCircuitOpen", message)

    def forget(self, key: Hashable) -> None:
        """It is gone."""
        self._accounts.pop(key, None)

    def _account(self, key: Hashable) -> _Account:
        now = self._clock()
        account = self._accounts.get(key)
        if account is None:
            account = self._accounts[key] = _Account(now, self._limits)
        earned = (now - account.time) * self._limits.refill
        account.tokens, account.time = min(self._limits.burst, account.tokens + earned), now
        return account

    def _probe(self, account: _Account, now: float) -> float:
        if now >= account.open_until:
            account.open_until = 0.0
            account.tokens = self._limits.burst
            self._meter.closed.value += 1
        elif now < account.probe_at:
            self._meter.put_off.value += 1
            return account.probe_at - now
        self._meter.probed.value += 1
        account.probe_at = now + self._limits.probe
        return 0.0


def _edits(xr: Object) -> tuple[Any, ...]:
    """What of it changes by edits only."""
    metadata = xr["metadata"]
    named = ("labels", "annotations", "deletionTimestamp")
    return (_spec_digest(xr.get("spec")), *(metadata.get(key) for key in named))


def _spec_digest(spec: Any) -> int:
    """A digest of the spec without the references that we keep there, at its top or in a part of our own."""
    if not isinstance(spec, dict):
        return 0
    parts = {key: _without_references(part) for key, part in _without_references(spec).items()}
    return hash(orjson.dumps(parts))


def _without_references(part: Any) -> Any:
    if not isinstance(part, dict) or not any(key in part for key in _REFERENCES):
        return part
    return {key: value for key, value in part.items() if key not in _REFERENCES}
