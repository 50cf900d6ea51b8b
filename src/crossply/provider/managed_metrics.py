"""What a provider counts, under the names that dashboards for Crossplane know."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from crossply.compose.conditions import read_conditions
from crossply.compose.object_metadata import metadata_of
from crossply.kube.kind import Kind
from crossply.kube.watch import Key
from crossply.record.prometheus import DurationHistogram, Gauge, MetricFamily, Reading
from crossply.values import Object
from crossply.values.timestamps import parse_timestamp

_EXPONENTIAL = tuple(1e-8 * 10**power for power in range(10))
_LIFECYCLE = (1.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)

DETECTED = DurationHistogram(
    "crossplane_managed_resource_first_time_to_reconcile_seconds",
    "Seconds from the creation of a managed resource to its first reconcile.",
    "gvk",
    bounds=_EXPONENTIAL,
)
FIRST_READY = DurationHistogram(
    "crossplane_managed_resource_first_time_to_readiness_seconds",
    "Seconds from the creation of a managed resource until it is ready for the first time.",
    "gvk",
    bounds=_LIFECYCLE,
)
DELETION = DurationHistogram(
    "crossplane_managed_resource_deletion_seconds",
    "Seconds from the deletion of a managed resource until it is gone.",
    "gvk",
    bounds=_LIFECYCLE,
)
DRIFT = DurationHistogram(
    "crossplane_managed_resource_drift_seconds",
    "Seconds since a managed resource was last found up to date, when it was found to differ.",
    "gvk",
    bounds=_EXPONENTIAL,
)

_METERS: dict[str, ManagedMeter] = {}


def _states(condition: int) -> Reading:
    return [((gvk,), float(meter.counts()[condition])) for gvk, meter in _METERS.items()]


EXISTS = Gauge("crossplane_managed_resource_exists", "Managed resources.", "gvk", read=lambda: _states(0))
READY = Gauge(
    "crossplane_managed_resource_ready", "Managed resources that are ready.", "gvk", read=lambda: _states(1)
)
SYNCED = Gauge(
    "crossplane_managed_resource_synced",
    "Managed resources whose last reconcile succeeded.",
    "gvk",
    read=lambda: _states(2),
)

ALL: tuple[MetricFamily, ...] = (DETECTED, FIRST_READY, DELETION, DRIFT, EXISTS, READY, SYNCED)


class ManagedMeter:
    """Counts for the resources of one kind."""

    def __init__(self, kind: Kind) -> None:
        self._gvk = f"{kind.group}/{kind.version}, Kind={kind.kind}"
        self._states: dict[Key, tuple[bool, bool]] = {}
        """Whether each resource is ready, and synced."""
        self._new: set[Key] = set()
        self._unchanged: dict[Key, float] = {}
        _METERS[self._gvk] = self

    def counts(self) -> tuple[int, int, int]:
        """How many resources exist, are ready, are synced."""
        states = self._states.values()
        return len(states), sum(ready for ready, _ in states), sum(synced for _, synced in states)

    def reconcile_started(self, key: Key, resource: Object) -> None:
        """A reconcile begins."""
        if key not in self._states and not read_conditions(resource.get("status")):
            DETECTED.of(self._gvk).add(_seconds_since(metadata_of(resource).get("creationTimestamp")))
            self._new.add(key)

    def reconcile_finished(self, key: Key, live: Object, outcome: str) -> None:
        """A reconcile ended so."""
        if outcome == "deleted":
            DELETION.of(self._gvk).add(_seconds_since(metadata_of(live).get("deletionTimestamp")))
            self.forget(key)
            return
        statuses = {entry["type"]: entry["status"] for entry in read_conditions(live.get("status"))}
        is_ready = statuses.get("Ready") == "True"
        self._states[key] = is_ready, statuses.get("Synced") == "True"
        if outcome == "updated" and key in self._unchanged:
            DRIFT.of(self._gvk).add(time.monotonic() - self._unchanged[key])
        if outcome in ("unchanged", "updated"):
            self._unchanged[key] = time.monotonic()
        if is_ready and key in self._new:
            self._new.discard(key)
            FIRST_READY.of(self._gvk).add(_seconds_since(metadata_of(live).get("creationTimestamp")))

    def forget(self, key: Key) -> None:
        """The resource is gone."""
        self._states.pop(key, None)
        self._new.discard(key)
        self._unchanged.pop(key, None)


def _seconds_since(timestamp: object) -> float:
    time_then = parse_timestamp(timestamp)
    return 0.0 if time_then is None else max((datetime.now(UTC) - time_then).total_seconds(), 0.0)
