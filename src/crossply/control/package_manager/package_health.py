"""The conditions of a package: whether its current revision is installed and healthy."""

from __future__ import annotations

from crossply.compose.conditions import read_conditions
from crossply.compose.events import StatusCondition
from crossply.control.calls.function_revision_runtime import RUNTIME_HEALTHY
from crossply.values import Object

REVISION_HEALTHY, RUNTIME_ACTIVE = "RevisionHealthy", "RuntimeActive"

ACTIVE = StatusCondition("Installed", "True", "ActivePackageRevision")
INACTIVE = StatusCondition("Installed", "False", "InactivePackageRevision", "Package is inactive")
UNPACKING = StatusCondition("Installed", "False", "UnpackingPackage")
HEALTHY = StatusCondition("Healthy", "True", "HealthyPackageRevision")
UNHEALTHY = StatusCondition("Healthy", "False", "UnhealthyPackageRevision")
AWAITING = StatusCondition("Healthy", "True", "AwaitingActivation")


def health_of(revision: Object, has_runtime: bool, local: bool) -> StatusCondition:
    """The condition Healthy, from those of the revision; a local one is healthy unless it says otherwise."""
    conditions = {condition_["type"]: condition_ for condition_ in read_conditions(revision.get("status"))}
    parts = [(REVISION_HEALTHY, "revision")] + ([(RUNTIME_HEALTHY, "runtime")] if has_runtime else [])
    for type_, part in parts:
        if type_ not in conditions and local:
            continue
        condition = conditions.get(type_, {"status": "Unknown"})
        if condition["status"] != "True":
            message = condition.get("message", "")
            summary = f'Package {part} health is "{condition["status"]}"'
            return UNHEALTHY._replace(message=f"{summary} with message: {message}" if message else summary)
    activity = conditions.get(RUNTIME_ACTIVE, {})
    if activity.get("reason") == AWAITING.reason:
        return AWAITING._replace(message=activity.get("message", ""))
    return HEALTHY
