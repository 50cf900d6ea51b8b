"""Readiness checks of observed resources, compiled into one closure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Failure, Fatal, is_not_found, wrap
from crossply.functions.builtin.patch_and_transform.object_fields import Read, reader
from crossply.functions.builtin.timestamps import timestamp_key
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire

Check = Callable[[Object], bool]


def compile_readiness_checks(checks: list[Object], dialect: Dialect) -> Check:
    """Compile checks into one that stops at the first failure. By default, condition Ready must be True."""
    if not checks:
        return _has_condition("Ready", "True")
    compiled = [_check(check, dialect) for check in checks]

    def is_ready(observed: Object) -> bool:
        for index, check in enumerate(compiled):
            try:
                if not check(observed):
                    return False
            except FAILURES as error:
                if is_not_found(error):
                    return False
                raise wrap(f"cannot run readiness check at index {index}", error) from None
        return True

    return is_ready


def _check(check: Object, dialect: Dialect) -> Check:
    kind = check["type"]
    if kind == "None":
        return lambda _observed: True
    if kind == "MatchCondition":
        return _condition_check(check.get("matchCondition"))
    path = check["fieldPath"]
    return _field_check(check, reader(path), path, dialect)


def _field_check(check: Object, read: Read, path: str, dialect: Dialect) -> Check:
    kind = check["type"]
    if kind == "NonEmpty":
        return lambda observed: (read(observed), True)[1]
    if kind == "MatchString":
        return _equals(read, str, check["matchString"], f"{path}: not a string")
    if kind == "MatchInteger":
        read_integer = (lambda observed: from_wire(read(observed))) if dialect.native_numbers else read
        return _equals(read_integer, int, check["matchInteger"], f"{path}: not a (int64) number")
    return _equals(read, bool, kind == "MatchTrue", f"{path}: not a bool")


def _equals(read: Read, kind: type, settings: Any, problem: str) -> Check:
    def check(observed: Object) -> bool:
        value = read(observed)
        if type(value) is not kind:
            raise Failure(problem)
        return bool(value == settings)

    return check


def _condition_check(settings: Object | None) -> Check:
    if settings is None:
        return _broken
    return _has_condition(settings["type"], settings["status"])


def _broken(_observed: Object) -> bool:
    # The published function crashes here, but only once there is a resource to check.
    raise Fatal("matchCondition is required by readiness check type MatchCondition")


def _has_condition(kind: str, status: str) -> Check:
    return lambda observed: condition_status(observed, kind) == status


_TEXTS = ("type", "status", "reason", "message")


def condition_status(obj: Object, kind: str) -> str:
    """The status of a condition: Unknown when the object has no such condition.

    It is empty when the object has no status, or when any of its conditions is malformed.
    """
    status = obj.get("status")
    if type(status) is not dict:
        return ""
    conditions: Any = status.get("conditions")
    if conditions is None:
        return "Unknown"
    if type(conditions) is not list:
        return ""
    return _status_in(conditions, kind)


def _status_in(conditions: list[Any], kind: str) -> str:
    status = None
    for condition in conditions:
        if condition is None:
            continue
        if not _is_condition(condition):
            return ""
        if status is None and condition.get("type") == kind:
            status = condition.get("status") or ""
    return "Unknown" if status is None else status


def _is_condition(value: Any) -> bool:
    if type(value) is not dict:
        return False
    for name in _TEXTS:
        text = value.get(name)
        if text is not None and type(text) is not str:
            return False
    return _is_integer(value.get("observedGeneration")) and _is_time(value.get("lastTransitionTime"))


def _is_integer(value: Any) -> bool:
    return value is None or (type(value) is float and value.is_integer())


def _is_time(value: Any) -> bool:
    return value is None or (type(value) is str and timestamp_key(value) is not None)
