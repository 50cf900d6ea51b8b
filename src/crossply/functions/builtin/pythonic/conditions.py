"""Conditions by type: those that objects have, and those that the function sets on the composite resource."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from crossply.compose.function_messages import (
    STATUS_FALSE,
    STATUS_TRUE,
    STATUS_UNKNOWN,
    STATUS_UNSPECIFIED,
    TARGET_COMPOSITE,
    TARGET_COMPOSITE_AND_CLAIM,
    TARGET_UNSPECIFIED,
)
from crossply.functions.builtin.pythonic.assignment import ProtobufValue
from crossply.functions.builtin.pythonic.message import Message
from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.value import Value

UNSET: Any = object()
"""An argument that was not given."""


class Conditions:
    """The conditions of a resource; with a response, those that it sets come first and can be written."""

    def __init__(self, observed: Message, response: Message | None = None) -> None:
        self._observed = observed
        self._response = response

    def __getattr__(self, type: str) -> Condition:
        if type.startswith("__"):
            raise AttributeError(type)
        return self[type]

    def __getitem__(self, type: str) -> Condition:
        return Condition(self, type)

    def __bool__(self) -> bool:
        return bool(self._response is not None and self._response.conditions) or bool(self._observed_list())

    def __len__(self) -> int:
        return len(self._types())

    def __iter__(self) -> Iterator[Condition]:
        for type in self._types():
            yield self[type]

    def _types(self) -> list[str]:
        listed = [*self._observed_list(), *(self._response.conditions if self._response is not None else ())]
        return sorted({str(condition.type) for condition in listed if condition.type})

    def _observed_list(self) -> Any:
        return self._observed.resource.status.conditions

    def _find_observed(self, type: str) -> Any:
        return next((candidate for candidate in self._observed_list() if candidate.type == type), None)

    def _find_set(self, type: str) -> Any:
        if self._response is None:
            return None
        return next((candidate for candidate in self._response.conditions if candidate.type == type), None)


class Condition(ProtobufValue):
    """The condition of one type, which may not exist."""

    def __init__(self, conditions: Conditions, type: str) -> None:
        self._conditions = conditions
        self.type = type

    def __call__(
        self, reason: Any = UNSET, message: Any = UNSET, status: Any = UNSET, claim: Any = UNSET
    ) -> Condition:
        """Set the given fields of the condition."""
        self._written()
        for name, value in (("reason", reason), ("message", message), ("status", status), ("claim", claim)):
            if value is not UNSET:
                setattr(self, name, value)
        return self

    def _find(self) -> Any:
        condition = self._conditions._find_set(self.type)
        return condition if condition is not None else self._conditions._find_observed(self.type)

    def _written(self) -> Any:
        """The condition in the response, which is created if it is missing."""
        condition = self._conditions._find_set(self.type)
        if condition is None:
            if self._conditions._response is None:
                raise ValueError("Condition is read only")
            condition = self._conditions._response.conditions.append()
            condition.type = self.type
        return condition

    @property
    def status(self) -> bool | None:
        condition = self._find()
        status = None if condition is None else condition.status
        if isinstance(status, FieldMessage):
            return {STATUS_TRUE: True, STATUS_FALSE: False}.get(status._value)
        if status in ("True", True):
            return True
        return False if status in ("False", False) else None

    @status.setter
    def status(self, status: Any) -> None:
        # A value counts as true when it is known, whatever it holds.
        if status:
            number = STATUS_TRUE
        elif isinstance(status, Value):
            number = STATUS_UNSPECIFIED
        else:
            number = STATUS_UNKNOWN if status is None else STATUS_FALSE
        self._written().status = number

    @property
    def reason(self) -> Any:
        condition = self._find()
        return None if condition is None else condition.reason

    @reason.setter
    def reason(self, reason: Any) -> None:
        self._written().reason = reason

    @property
    def message(self) -> Any:
        condition = self._find()
        return None if condition is None else condition.message

    @message.setter
    def message(self, message: Any) -> None:
        self._written().message = message

    @property
    def lastTransitionTime(self) -> datetime | None:
        observed = self._conditions._find_observed(self.type)
        time = None if observed is None else observed.lastTransitionTime
        return datetime.fromisoformat(str(time)) if time else None

    @property
    def claim(self) -> Any:
        condition = self._find()
        return condition and condition.target == TARGET_COMPOSITE_AND_CLAIM

    @claim.setter
    def claim(self, claim: Any) -> None:
        self._written().target = target_of(claim)

    @property
    def _protobuf_value(self) -> Any:
        status, time = self.status, self.lastTransitionTime
        data = {
            "type": self.type,
            "status": "Unknown" if status is None else str(status),
            "reason": self.reason or "",
            "message": self.message or "",
        }
        if time:
            data["lastTransitionTime"] = time.isoformat().replace("+00:00", "Z")
        return data


def target_of(claim: Any) -> int:
    """Who sees a condition or a result: the claim too (true), only the composite resource, or unspecified."""
    if claim:
        return TARGET_COMPOSITE_AND_CLAIM
    return TARGET_UNSPECIFIED if claim is None or isinstance(claim, Value) else TARGET_COMPOSITE
