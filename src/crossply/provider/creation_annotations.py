"""The annotations around creation, by which a later reconcile knows what an interrupted one may have done."""

from __future__ import annotations

from datetime import datetime, timedelta

from crossply.compose.conditions import read_conditions
from crossply.compose.object_metadata import annotations_of
from crossply.provider.context import EXTERNAL_NAME
from crossply.values import Object
from crossply.values.timestamps import format_timestamp, parse_timestamp

CREATE_PENDING = "crossplane.io/external-create-pending"
CREATE_SUCCEEDED = "crossplane.io/external-create-succeeded"
CREATE_FAILED = "crossplane.io/external-create-failed"


def is_creation_incomplete(resource: Object) -> bool:
    """A creation began, and it is not known how it ended."""
    annotations = annotations_of(resource)
    pending = parse_timestamp(annotations.get(CREATE_PENDING))
    ends = [parse_timestamp(annotations.get(name)) for name in (CREATE_SUCCEEDED, CREATE_FAILED)]
    return pending is not None and all(end is None or pending > end for end in ends)


def is_created(resource: Object) -> bool:
    """The external resource was created, or found ready to be used."""
    conditions = read_conditions(resource.get("status"))
    is_ready = any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)
    return is_ready or CREATE_SUCCEEDED in annotations_of(resource)


def was_just_created(resource: Object, now: datetime, grace_period: float) -> bool:
    """The creation succeeded within so many seconds."""
    succeeded = parse_timestamp(annotations_of(resource).get(CREATE_SUCCEEDED))
    return succeeded is not None and now - succeeded < timedelta(seconds=grace_period)


def pending_creation(now: datetime) -> dict[str, str]:
    """What is written before a creation."""
    return {CREATE_PENDING: format_timestamp(now)}


def creation_outcome(now: datetime, external_name: str, *, succeeded: bool) -> dict[str, str]:
    """What is written after a creation."""
    end = CREATE_SUCCEEDED if succeeded else CREATE_FAILED
    return {EXTERNAL_NAME: external_name, end: format_timestamp(now)}
