"""A managed resource during one reconcile: what is live, what its status is to be, and how a step fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from crossply.compose.conditions import failed, read_conditions, set_conditions
from crossply.compose.events import WARNING, Event, StatusCondition
from crossply.compose.object_metadata import annotations_of
from crossply.errors import CrossplyError
from crossply.provider.reconcile_effects import Effect, Effects, Publish, RecordEvent, Save, WriteStatus
from crossply.values import Object
from crossply.values.timestamps import format_timestamp


class StepFailed(Exception):
    """A step of the reconcile failed; `report` reports it."""

    def __init__(
        self,
        problem: CrossplyError,
        *,
        reason: str = "",
        prefix: str = "",
        event_prefix: str = "",
        ready: StatusCondition | None = None,
    ) -> None:
        """No event is recorded without a reason."""
        super().__init__(str(problem))
        self.reason = reason
        self.message = f"{prefix}: {problem}" if prefix else str(problem)
        self.event_message = f"{event_prefix}: {problem}" if event_prefix else str(problem)
        self.conditions = (*(() if ready is None else (ready,)), failed(self.message))


class ManagedState:
    """What every step of a reconcile reads and changes."""

    def __init__(self, resource: Object, now: Callable[[], datetime]) -> None:
        self.live = resource
        """The resource as it was last written."""
        self.now = now
        self.handled_request = ""
        """The token of a request to reconcile that this reconcile handles."""
        self._status: Object = resource.get("status") or {}
        """What the status is to be in the end."""

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations of the live resource."""
        return annotations_of(self.live)

    @property
    def spec(self) -> Object:
        """The spec of the live resource."""
        return self.live.get("spec") or {}

    @property
    def generation(self) -> int:
        """The generation of the live resource."""
        return int(self.live["metadata"].get("generation", 0))

    def condition(self, kind: str) -> Object:
        """A condition that the live resource has; empty where it has none."""
        conditions = read_conditions(self.live.get("status"))
        return next((entry for entry in conditions if entry["type"] == kind), {})

    def was_in_sync(self) -> bool:
        """The last reconcile succeeded, and the spec has not changed since."""
        synced = self.condition("Synced")
        return synced.get("status") == "True" and synced.get("observedGeneration", 0) == self.generation

    def attempt(
        self,
        effect: Effect,
        *,
        reason: str,
        prefix: str,
        event_prefix: str = "",
        ready: StatusCondition | None = None,
    ) -> Effects[Any]:
        """The answer to an effect; raises StepFailed."""
        try:
            return (yield effect)
        except CrossplyError as problem:
            raise StepFailed(
                problem, reason=reason, prefix=prefix, event_prefix=event_prefix, ready=ready
            ) from problem

    def save(
        self,
        desired: Object,
        *,
        reason: str,
        prefix: str,
        event_prefix: str = "",
        ready: StatusCondition | None = None,
    ) -> Effects[None]:
        """Write metadata and spec."""
        effect = Save(self.live, desired)
        self.live = yield from self.attempt(
            effect, reason=reason, prefix=prefix, event_prefix=event_prefix, ready=ready
        )

    def publish(
        self, details: Mapping[str, bytes], *, may_create: bool = True, ready: StatusCondition | None = None
    ) -> Effects[None]:
        """Write connection details, if the resource names a Secret for them."""
        if (self.spec.get("writeConnectionSecretToRef") or {}).get("name"):
            prefix = "cannot create or update connection secret"
            effect = Publish(self.live, details, may_create)
            reason = "CannotPublishConnectionDetails"
            yield from self.attempt(effect, reason=reason, prefix=prefix, event_prefix=prefix, ready=ready)

    def record_event(
        self, severity: str, reason: str, message: str, *, is_repeatable: bool = False
    ) -> Effects[None]:
        """Record an event; one that was recorded before only if it is repeatable."""
        yield RecordEvent(self.live, Event(severity, reason, message), is_repeatable)

    def observe(self, ready: StatusCondition, at_provider: Object | None) -> None:
        """Note what the provider observed, for the next write of the status."""
        if at_provider is not None:
            self._status = {**self._status, "atProvider": at_provider}
        # As with other providers, conditions that the provider sets carry no generation.
        self._mark((ready._replace(by_function=True),))

    def write_status(self, *conditions: StatusCondition) -> Effects[None]:
        """Set conditions, and write the status if that changes it."""
        self._mark(conditions)
        if self.handled_request:
            self._status = {**self._status, "lastHandledReconcileAt": self.handled_request}
        if self._status != (self.live.get("status") or {}):
            self.live = yield WriteStatus(self.live, self._status)

    def report(self, failure: StepFailed) -> Effects[None]:
        """Report a failed step; the event is repeated if the last failure was another."""
        if failure.reason:
            is_new = self.condition("Synced").get("message") != failure.message
            yield from self.record_event(WARNING, failure.reason, failure.event_message, is_repeatable=is_new)
        yield from self.write_status(*failure.conditions)

    def _mark(self, conditions: Iterable[StatusCondition]) -> None:
        now = format_timestamp(self.now())
        marked = set_conditions(read_conditions(self._status), conditions, now, self.generation)
        self._status = {**self._status, "conditions": marked}


def annotated(resource: Object, annotations: Mapping[str, str]) -> Object:
    """The resource with more annotations."""
    merged = {**annotations_of(resource), **annotations}
    return {**resource, "metadata": {**resource["metadata"], "annotations": merged}}


def with_finalizers(resource: Object, finalizers: list[str]) -> Object:
    """The resource with other finalizers."""
    return {**resource, "metadata": {**resource["metadata"], "finalizers": finalizers}}
