"""A CronOperation: a template of Operations, and the schedule on which they are created."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from crossply.kinds.fields import Fields, KindError
from crossply.kinds.operation import read_template
from crossply.kinds.operation_history import FAILED_LIMIT, SUCCESSFUL_LIMIT
from crossply.values import Object
from crossply.values.timestamps import parse_timestamp

LABEL = "ops.crossplane.io/cronoperation"
"""The label of an Operation that names the CronOperation it was made by."""


class CronOperationError(KindError):
    """A CronOperation has a field that cannot be understood."""

    code = "CP-423"


class CronOperation(NamedTuple):
    """What to run, when, what becomes of earlier runs, and when those were."""

    name: str
    uid: str
    created: datetime | None
    schedule: str
    deadline: int | None
    """The seconds after which a time that was missed is not made up for; None is never."""
    concurrency: str
    successful_limit: int
    failed_limit: int
    template: Object
    last_schedule: datetime | None
    last_success: datetime | None


def parse_cron_operation(obj: Object) -> CronOperation:
    """Read a CronOperation."""
    root = Fields(obj, error=CronOperationError)
    metadata, spec, status = root.object("metadata"), root.object("spec"), root.object("status")
    return CronOperation(
        name=metadata.text("name"),
        uid=metadata.text("uid"),
        created=parse_timestamp(metadata.text("creationTimestamp")),
        schedule=spec.text("schedule"),
        deadline=spec.integer("startingDeadlineSeconds"),
        concurrency=spec.text("concurrencyPolicy"),
        successful_limit=_or_default(spec.integer("successfulHistoryLimit"), SUCCESSFUL_LIMIT),
        failed_limit=_or_default(spec.integer("failedHistoryLimit"), FAILED_LIMIT),
        template=read_template(spec.object("operationTemplate")),
        last_schedule=parse_timestamp(status.text("lastScheduleTime")),
        last_success=parse_timestamp(status.text("lastSuccessfulTime")),
    )


def _or_default(limit: int | None, default: int) -> int:
    return default if limit is None else limit
