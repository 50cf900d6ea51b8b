"""Readiness checks: whether an observed resource can be counted on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.patch_and_transform.access import Read, reader
from crossply.functions.builtin.patch_and_transform.conditions import condition_status
from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.failure import REASONS, Failure, Fatal, is_not_found, wrap
from crossply.values import Object
from crossply.values.structs import from_wire

Check = Callable[[Object], bool]


def make_check(checks: list[Object], dialect: Dialect) -> Check:
    """Make one check of all: the first that says no ends it. Without checks, condition Ready must be True."""
    if not checks:
        return _has_condition("Ready", "True")
    made = [_check(check, dialect) for check in checks]

    def is_ready(observed: Object) -> bool:
        for index, check in enumerate(made):
            try:
                if not check(observed):
                    return False
            except REASONS as reason:
                if is_not_found(reason):
                    return False
                raise wrap(f"cannot run readiness check at index {index}", reason) from None
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
        whole = (lambda observed: from_wire(read(observed))) if dialect.native_numbers else read
        return _equals(whole, int, check["matchInteger"], f"{path}: not a (int64) number")
    return _equals(read, bool, kind == "MatchTrue", f"{path}: not a bool")


def _equals(read: Read, kind: type, wanted: Any, problem: str) -> Check:
    def check(observed: Object) -> bool:
        value = read(observed)
        if type(value) is not kind:
            raise Failure(problem)
        return bool(value == wanted)

    return check


def _condition_check(wanted: Object | None) -> Check:
    if wanted is None:
        return _broken
    return _has_condition(wanted["type"], wanted["status"])


def _broken(_observed: Object) -> bool:
    # The original crashes here, but only once there is a resource to check.
    raise Fatal("matchCondition is required by readiness check type MatchCondition")


def _has_condition(kind: str, status: str) -> Check:
    return lambda observed: condition_status(observed, kind) == status
