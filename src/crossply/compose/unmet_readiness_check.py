"""The readiness check of a Composition that a composed resource does not meet, in words.

The checks are those in inputs of patch-and-transform, wherever the function runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from crossply.compose.conditions import read_conditions
from crossply.values import Object
from crossply.values.field_path import PathError, get
from crossply.values.gojson import dumps

_ABSENT = object()
_DESIRED = {
    "MatchString": "matchString",
    "MatchInteger": "matchInteger",
}
_FIXED = {"MatchTrue": True, "MatchFalse": False}


class UnmetCheck(NamedTuple):
    """What a check requires, and what it finds instead."""

    requirement: str
    """`status.phase must be "up"`."""
    actual: str = ""
    """`"down"`; empty where it is not known."""

    @property
    def sentence(self) -> str:
        """The requirement, without the value: that may change while the failure stays the same."""
        return f"readiness check is not met: {self.requirement}"

    @property
    def sentence_with_value(self) -> str:
        return f"{self.sentence}, and is {self.actual}" if self.actual else self.sentence


def unmet_check(name: str, obj: Object, inputs: Iterable[Object | None]) -> UnmetCheck | None:
    """The first check that a resource of this name in the pipeline does not meet; None if there is none."""
    unmet = (_unmet(check, obj) for check in _checks(name, inputs))
    return next(filter(None, unmet), None)


def unmet_check_of_conditions(name: str, obj: Object, inputs: Iterable[Object | None]) -> UnmetCheck | None:
    """The same for an unready object of which little more than the conditions is at hand."""
    checks = list(_checks(name, inputs))
    of_fields = [check for check in checks if check.get("type") != "MatchCondition"]
    for check in checks:
        unmet = None if check in of_fields else _unmet(check, obj)
        if unmet is not None:
            return unmet
    # Where only one is left, it is the one that is not met; with which value is not known.
    unmet = _unmet(of_fields[0], {}) if len(of_fields) == 1 else None
    return unmet and unmet._replace(actual="")


def _checks(name: str, inputs: Iterable[Object | None]) -> Iterator[Object]:
    for step_input in inputs:
        resources = (step_input or {}).get("resources")
        for resource in resources if isinstance(resources, list) else ():
            if isinstance(resource, dict) and resource.get("name") == name:
                checks = resource.get("readinessChecks")
                yield from (check for check in checks or () if isinstance(check, dict))


def _unmet(check: Object, obj: Object) -> UnmetCheck | None:
    kind = check.get("type")
    if kind == "MatchCondition":
        return _unmet_condition(check.get("matchCondition") or {}, obj)
    path = str(check.get("fieldPath") or "")
    value = _value(obj, path)
    if kind == "NonEmpty":
        return UnmetCheck(f"{path} must be set", "not set") if value is _ABSENT else None
    if kind not in _DESIRED and kind not in _FIXED:
        return None
    desired = _FIXED[kind] if kind in _FIXED else check.get(_DESIRED[kind])
    if type(value) is type(desired) and value == desired:
        return None
    return UnmetCheck(f"{path} must be {dumps(desired)}", "not set" if value is _ABSENT else dumps(value))


def _unmet_condition(expected: Object, obj: Object) -> UnmetCheck | None:
    name = expected.get("type")
    conditions = {entry["type"]: entry for entry in read_conditions(obj.get("status"))}
    status = conditions.get(name, {}).get("status")
    if status == expected.get("status"):
        return None
    return UnmetCheck(f"condition {name} must be {expected.get('status')}", str(status or "not there"))


def _value(obj: Object, path: str) -> Any:
    try:
        return get(obj, path)
    except PathError:
        return _ABSENT
