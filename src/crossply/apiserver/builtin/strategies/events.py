"""Strategies of Events: old ones are validated little, new ones (with an eventTime) more."""

from __future__ import annotations

from crossply.apiserver.builtin.conversions import to_core
from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import immutable, invalid, problems_at, required
from crossply.apiserver.registry.name_validation import qualified_name_problems
from crossply.schema.field_errors import FieldError
from crossply.values import Object

_SHORT, _NOTE = 128, 1024
_HISTORY = ("firstTimestamp", "lastTimestamp", "count", "source")
_FIXED = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)


class EventStrategy(Strategy):
    allows_create_on_update = True

    def validate_create(self, obj: Object) -> list[FieldError]:
        """Validate an event; those of events.k8s.io must be of the new form throughout."""
        event = to_core(obj)
        errors = self._check(event)
        if not self.resource.group:
            return errors
        errors += _check_series(event)
        if not event.get("eventTime"):
            errors.append(required("eventTime"))
        if event.get("type") not in ("Normal", "Warning"):
            errors.append(invalid("type", "", f"has invalid value: {event.get('type', '')}"))
        errors += [invalid(key, "", "needs to be unset") for key in _HISTORY if event.get(key)]
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """Only the series of an event of events.k8s.io may change."""
        event, before = to_core(new), to_core(old)
        errors = self._check(event)
        if not self.resource.group:
            return errors
        if event.get("series") != before.get("series"):
            errors += _check_series(event)
        for key in _FIXED:
            shown = "reportingController" if key == "reportingComponent" else key
            errors += immutable(event.get(key), before.get(key), shown)
        return errors

    def _check(self, event: Object) -> list[FieldError]:
        namespace = (event.get("metadata") or {}).get("namespace", "")
        involved = (event.get("involvedObject") or {}).get("namespace", "")
        apart = [invalid("involvedObject.namespace", involved, "does not match event.namespace")]
        if not event.get("eventTime"):
            matches = namespace == involved or (not involved and namespace == "default")
            return [] if matches else apart
        errors = apart if not involved and namespace not in ("default", "kube-system") else []
        return errors + self._check_new(event)

    def _check_new(self, event: Object) -> list[FieldError]:
        field = "reportingController" if self.resource.group else "reportingComponent"
        controller = event.get("reportingComponent", "")
        errors = [] if controller else [required(field)]
        errors += problems_at(field, controller, qualified_name_problems(controller))
        for key in ("reportingInstance", "action", "reason"):
            value = event.get(key, "")
            if not value:
                errors.append(required(key))
            errors += _check_length(value, key, _SHORT)
        return errors + _check_length(event.get("message", ""), "message", _NOTE)


def _check_length(value: str, path: str, limit: int) -> list[FieldError]:
    if len(value.encode()) <= limit:
        return []
    return [invalid(path, "", f"can have at most {limit} characters")]


def _check_series(event: Object) -> list[FieldError]:
    series = event.get("series")
    if not series:
        return []
    errors = []
    if series.get("count", 0) < 2:
        errors.append(invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        errors.append(required("series.lastObservedTime"))
    return errors
