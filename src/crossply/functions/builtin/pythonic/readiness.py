"""Whether observed resources are ready, by their kinds.

A rule returns nothing for a resource that is ready, and otherwise the path below its status that names what
is missing. The value at that path is unknown: a resource that depends on it waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

READY = ()
Rule = Callable[[Any], tuple[str, ...]]


def resource_ready(resource: Any) -> Any:
    """A known value for a resource that is ready, an unknown one for others; None where nothing says."""
    if not resource.observed:
        return None
    kind = (str(resource.observed.apiVersion), str(resource.observed.kind))
    if kind not in _RULES and resource.conditions.Ready._find() is None:
        return None
    missing = _RULES.get(kind, _has_ready_condition)(resource)
    if not missing:
        return resource.observed.metadata.name
    value = resource.status
    for key in missing:
        value = value[key]
    return value


def _always(resource: Any) -> tuple[str, ...]:
    return READY


def _condition(resource: Any, kind: str, missing: str) -> tuple[str, ...]:
    condition = resource.conditions[kind]
    if condition.status:
        return READY
    return (missing, str(condition.reason)) if condition.reason else (missing,)


def _has_ready_condition(resource: Any) -> tuple[str, ...]:
    return _condition(resource, "Ready", "notReadyCondition")


def _counts(resource: Any, expected: Any, fields: tuple[str, ...], suffix: str) -> tuple[str, ...]:
    """Whether fields of the status have the expected number."""
    for field in fields:
        if not resource.status[field]:
            return (field,)
        if resource.status[field] != expected:
            return (f"{field}{suffix}",)
    return READY


def _cron_job(resource: Any) -> tuple[str, ...]:
    status = resource.status
    if resource.observed.spec.suspend == True or (status.lastScheduleTime and status.active):  # noqa: E712
        return READY
    for field in ("lastScheduleTime", "lastSuccessfulTime"):
        if not status[field]:
            return (field,)
    is_late = str(status.lastSuccessfulTime) < str(status.lastScheduleTime)
    return ("successfulBeforeSchedule",) if is_late else READY


def _daemon_set(resource: Any) -> tuple[str, ...]:
    expected = resource.status.desiredNumberScheduled
    if not expected:
        return ("desiredNumberScheduled",)
    fields = ("numberReady", "updatedNumberScheduled", "numberAvailable")
    return _counts(resource, expected, fields, "NotScheduled")


def _deployment(resource: Any) -> tuple[str, ...]:
    replicas = resource.observed.spec.replicas or 1
    missing = _counts(resource, replicas, ("updatedReplicas", "availableReplicas"), "NotReplicas")
    return missing or _condition(resource, "Available", "notAvailable")


def _autoscaler(resource: Any) -> tuple[str, ...]:
    for kind in ("FailedGetScale", "FailedUpdateScale", "FailedGetResourceMetric", "InvalidSelector"):
        if resource.conditions[kind].status:
            return (f"is{kind}",)
    is_scaling = any(resource.conditions[kind].status for kind in ("ScalingActive", "ScalingLimited"))
    return READY if is_scaling else ("notScalingActiveOrLimited",)


def _load_balanced(resource: Any) -> tuple[str, ...]:
    return READY if len(resource.status.loadBalancer.ingress) else ("noLoadBalancerIngresses",)


def _job(resource: Any) -> tuple[str, ...]:
    for kind in ("Failed", "Suspended"):
        if resource.conditions[kind].status:
            return (f"is{kind}",)
    return _condition(resource, "Complete", "notComplete")


def _volume_claim(resource: Any) -> tuple[str, ...]:
    return READY if resource.status.phase == "Bound" else ("phaseNotBound",)


def _pod(resource: Any) -> tuple[str, ...]:
    is_running = resource.status.phase == "Running" and resource.observed.spec.restartPolicy == "Always"
    if resource.status.phase == "Succeeded" or (is_running and resource.conditions.Ready.status):
        return READY
    return ("notSucceededOrRunning",)


def _replica_set(resource: Any) -> tuple[str, ...]:
    if int(resource.status.observedGeneration) < int(resource.observed.metadata.generation):
        return ("priorObservedGeneration",)
    if resource.conditions.ReplicaFailure.status:
        return ("isReplicaFailure",)
    enough = int(resource.status.availableReplicas) >= int(resource.observed.spec.replicas or 1)
    return READY if enough else ("tooFewAvailableReplicas",)


def _service(resource: Any) -> tuple[str, ...]:
    return _load_balanced(resource) if resource.observed.spec.type == "LoadBalancer" else READY


def _stateful_set(resource: Any) -> tuple[str, ...]:
    replicas = resource.observed.spec.replicas or 1
    missing = _counts(resource, replicas, ("readyReplicas", "currentReplicas"), "NotReplicas")
    if missing or resource.status.currentRevision == resource.status.updateRevision:
        return missing
    return ("currentRevisionNotUpdateRevision",)


_ALWAYS_READY = (
    *(("rbac.authorization.k8s.io/v1", kind) for kind in ("ClusterRole", "ClusterRoleBinding", "Role")),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    *(("v1", kind) for kind in ("ConfigMap", "Namespace", "Secret", "ServiceAccount")),
)
_RULES: dict[tuple[str, str], Rule] = {
    **dict.fromkeys(_ALWAYS_READY, _always),
    ("apps/v1", "DaemonSet"): _daemon_set,
    ("apps/v1", "Deployment"): _deployment,
    ("apps/v1", "ReplicaSet"): _replica_set,
    ("apps/v1", "StatefulSet"): _stateful_set,
    ("autoscaling/v2", "HorizontalPodAutoscaler"): _autoscaler,
    ("batch/v1", "CronJob"): _cron_job,
    ("batch/v1", "Job"): _job,
    ("networking.k8s.io/v1", "Ingress"): _load_balanced,
    ("v1", "PersistentVolumeClaim"): _volume_claim,
    ("v1", "Pod"): _pod,
    ("v1", "Service"): _service,
}
