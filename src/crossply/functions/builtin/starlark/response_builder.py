"""What a script did, in the form of a response."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.starlark.conversion import plain_object
from crossply.functions.builtin.starlark.desired_resources import DesiredResources, Pending
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.values import Value
from crossply.functions.builtin.starlark.response_builtins import READY_CONDITION, Collected
from crossply.functions.builtin.starlark.sequencing import (
    check_dependencies,
    deferred,
    unmatched,
    usages,
)
from crossply.values import Object
from crossply.values.durations import parse_duration
from crossply.values.goquote import quote

_STATUSES = {"True": 2, "False": 3}
_UNKNOWN = 1
_SEVERITIES = {"Normal": 3, "Warning": 2}
_READY, _NOT_READY = 1, 2
_WAITING_TTL = 10 * 10**9
_SUCCESS = "function-starlark: executed successfully"


class OutcomeProblem(Exception):
    """What a script did makes no response; the message says why."""


class Outcome:
    """What a script collected, and how the step wants it ordered."""

    def __init__(
        self,
        collected: Collected,
        desired: DesiredResources,
        observed: dict[str, Object],
        usage_version: str,
        sequencing_ttl: str,
    ) -> None:
        self._collected, self._desired, self._observed = collected, desired, observed
        self._usage_version, self._sequencing_ttl = usage_version, sequencing_ttl

    def response(self, composite: Value, context: Value) -> Object:
        """The response of a script that ran to its end."""
        desired, collected = self._desired, self._collected
        warnings, waiting, added, meta = self._sequenced()
        if collected.ttl is not None:
            meta = {"ttl": collected.ttl or None}
        due = {
            name: body
            for name, body in desired.resources.items()
            if name not in {one.name for one in waiting}
        }
        ready = self._readiness(waiting)
        try:
            response: Object = {
                "desired": {
                    "composite": {
                        "resource": _converted("dxr status", "dxr", composite),
                        "connection_details": collected.connection,
                        **({"ready": ready} if ready else {}),
                    },
                    "resources": {**added, **due},
                },
                "context": _converted("context", "context", context),
            }
        except EvalError as error:
            raise OutcomeProblem(str(error)) from None
        results = [_warning(message) for message in warnings]
        results += [*self._events(), *map(_warning, collected.warnings)]
        results.append({"severity": _SEVERITIES["Normal"], "message": _SUCCESS, "target": 1})
        return {**response, **self.messages(results), **({"meta": meta} if meta is not None else {})}

    def messages(self, results: list[Object]) -> Object:
        """The results, conditions and requirements of a response."""
        messages: Object = {"results": results, "conditions": self._conditions()}
        if self._collected.requirements:
            messages["requirements"] = {"resources": self._collected.requirements}
        return messages

    def fatal(self, message: str) -> Object:
        """The response of a script that called fatal()."""
        return self.messages([{"severity": 1, "message": message, "target": 1}, *self._events()])

    def _sequenced(self) -> tuple[list[str], list[Pending], Object, Object | None]:
        """Warnings, the resources that wait, the Usages, and for how long the response holds."""
        dependencies, resources = self._desired.dependencies, self._desired.resources
        if not dependencies:
            return [], [], {}, None
        check_dependencies(dependencies, resources)
        waiting = deferred(dependencies, self._observed)
        added = {
            usage.name: {"resource": usage.body, "ready": _READY}
            for usage in usages(dependencies, resources, self._usage_version)
        }
        if waiting:
            names = [one.name for one in waiting]
            message = f"Creation sequencing: {len(names)} resource(s) deferred: {', '.join(names)}"
            self._collected.add_event("Warning", message)
        ttl = self._waiting_ttl() if waiting else None
        return unmatched(dependencies, resources), waiting, added, {"ttl": ttl}

    def _waiting_ttl(self) -> int:
        """For how long a response holds while something waits, in nanoseconds."""
        if not self._sequencing_ttl:
            return _WAITING_TTL
        try:
            return parse_duration(self._sequencing_ttl)
        except ValueError as error:
            written = quote(self._sequencing_ttl)
            raise OutcomeProblem(f"invalid spec.sequencingTTL {written}: {error}") from None

    def _readiness(self, waiting: list[Pending]) -> int:
        """Whether the XR is ready, as far as the script says; it becomes a condition, too."""
        override, skips = self._desired.ready, self._desired.skips
        if override is not None:
            if override.reason:
                status = "True" if override.ready else "False"
                self._add_condition(status, override.reason, override.message)
            return _READY if override.ready else _NOT_READY
        if not skips and not waiting:
            return 0
        parts = [("Pending resources: ", skips), ("Waiting on dependencies: ", waiting)]
        message = "; ".join(prefix + "; ".join(map(_pending, items)) for prefix, items in parts if items)
        reason = "CompositeNotReady" if skips and waiting else "WaitingForDependencies"
        self._add_condition("False", "PendingConditionalResources" if not waiting else reason, message)
        return _NOT_READY

    def _add_condition(self, status: str, reason: str, message: str) -> None:
        self._collected.add_condition(READY_CONDITION, status, reason, message, "CompositeAndClaim")

    def _conditions(self) -> list[Object]:
        conditions = []
        for condition in self._collected.conditions:
            converted: Object = {
                "type": condition["type"],
                "status": _STATUSES.get(condition["status"], _UNKNOWN),
                "reason": condition["reason"],
                "target": _target(condition["target"]),
            }
            if condition["message"]:
                converted["message"] = condition["message"]
            conditions.append(converted)
        return conditions

    def _events(self) -> list[Object]:
        return [
            {
                "severity": _SEVERITIES[event["severity"]],
                "message": event["message"],
                "target": _target(event["target"]),
            }
            for event in self._collected.events
        ]


def _warning(message: str) -> Object:
    return {"severity": _SEVERITIES["Warning"], "message": message, "target": 1}


def _target(name: str) -> int:
    return 2 if name == "CompositeAndClaim" else 1


def _pending(one: Pending) -> str:
    return f"{quote(one.name)} ({one.reason})" if one.reason else quote(one.name)


def _converted(purpose: str, name: str, value: Any) -> Object:
    try:
        return plain_object(value)
    except EvalError as error:
        raise EvalError(f"applying {purpose}: converting {name}: {error}") from None
