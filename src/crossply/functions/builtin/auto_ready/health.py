"""Whether an object is ready: by a rule for built-in Kubernetes kinds, else by its `Ready` condition.

The table at the end of the rules lists the kinds. The rules of Deployment, StatefulSet, DaemonSet, Service
and Ingress read single fields and ignore the rest. The others decode like a typed client: a field of the
wrong type makes the object unhealthy. So does one malformed condition, which hides all other conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.timestamps import timestamp_key
from crossply.values import Object

HealthCheck = Callable[[Object], bool]

_AUTOSCALER_FAILURES = ("FailedGetScale", "FailedUpdateScale", "FailedGetResourceMetric", "InvalidSelector")


def is_ready(observed: Object) -> bool:
    """Whether an object passes the check of its kind, or has the condition `Ready: True`."""
    check = health_check(observed)
    return (check is not None and check(observed)) or has_ready_condition(observed)


def health_check(observed: Object) -> HealthCheck | None:
    """The rule of the object's kind, if there is one."""
    try:
        return CHECKS.get((observed.get("apiVersion"), observed.get("kind")))
    except TypeError:  # a list or an object instead of a string
        return None


def always_ready(_: Object) -> bool:
    """The rule of kinds without a status."""
    return True


def deployment(observed: Object) -> bool:
    """All replicas are updated and available, and so is the condition Available."""
    desired = _replicas(observed)
    if _count(observed, "updatedReplicas") != desired or _count(observed, "availableReplicas") != desired:
        return False
    condition_list = _get_path(observed, "status", "conditions")
    return isinstance(condition_list, list) and any(
        isinstance(condition, dict)
        and condition.get("type") == "Available"
        and condition.get("status") == "True"
        for condition in condition_list
    )


def stateful_set(observed: Object) -> bool:
    """All replicas are ready and at the revision that is rolled out."""
    desired = _replicas(observed)
    if _count(observed, "readyReplicas") != desired or _count(observed, "currentReplicas") != desired:
        return False
    current = _get_path(observed, "status", "currentRevision")
    return isinstance(current, str) and current == _get_path(observed, "status", "updateRevision")


def daemon_set(observed: Object) -> bool:
    """All scheduled pods are updated, ready and available."""
    desired = _count(observed, "desiredNumberScheduled")
    return (
        desired is not None
        and _count(observed, "numberReady") == desired
        and _count(observed, "updatedNumberScheduled") == desired
        and _count(observed, "numberAvailable") == desired
    )


def replica_set(observed: Object) -> bool:
    """The controller has observed the current spec, no replica failed, and enough are available."""
    numbers = (
        _get_path(observed, "metadata", "generation"),
        _get_path(observed, "status", "observedGeneration"),
        _get_path(observed, "spec", "replicas"),
        _get_path(observed, "status", "availableReplicas"),
    )
    if not all(map(is_integer, numbers)) or _conditions(observed).get("ReplicaFailure") == "True":
        return False
    generation, observed_generation, desired, available = numbers
    return (observed_generation or 0) >= (generation or 0) and (available or 0) >= (
        1 if desired is None else desired
    )


def pod(observed: Object) -> bool:
    """The pod succeeded, or it always restarts and is ready."""
    phase = _get_path(observed, "status", "phase")
    if phase == "Succeeded":
        return True
    if phase != "Running" or _get_path(observed, "spec", "restartPolicy") != "Always":
        return False
    return ("Ready", "True") in conditions(observed.get("status"))


def service(observed: Object) -> bool:
    """A load balancer must have an address; other services are always ready."""
    return _get_path(observed, "spec", "type") != "LoadBalancer" or ingress(observed)


def ingress(observed: Object) -> bool:
    """The load balancer has an address."""
    addresses = _get_path(observed, "status", "loadBalancer", "ingress")
    return isinstance(addresses, list) and bool(addresses)


def job(observed: Object) -> bool:
    """The job is complete; the first decisive condition counts."""
    for kind, status in conditions(observed.get("status")):
        if status == "True" and kind in ("Failed", "Suspended", "Complete"):
            return bool(kind == "Complete")
    return False


def cron_job(observed: Object) -> bool:
    """Suspended, running now, or its last run succeeded."""
    if _get_path(observed, "spec", "suspend") is True:
        return True
    scheduled = _get_path(observed, "status", "lastScheduleTime")
    last = timestamp_key(scheduled) if isinstance(scheduled, str) else None
    if last is None:
        return False
    active = _get_path(observed, "status", "active")
    if isinstance(active, list) and active:
        return True
    succeeded = _get_path(observed, "status", "lastSuccessfulTime")
    success = timestamp_key(succeeded) if isinstance(succeeded, str) else None
    return success is not None and success >= last


def horizontal_pod_autoscaler(observed: Object) -> bool:
    """The autoscaler is active or at its limit; the first decisive condition counts."""
    for kind, status in conditions(observed.get("status")):
        if status == "True" and kind in _AUTOSCALER_FAILURES:
            return False
        if status == "True" and kind in ("ScalingActive", "ScalingLimited"):
            return True
    return False


def persistent_volume_claim(observed: Object) -> bool:
    """The claim is bound."""
    return bool(_get_path(observed, "status", "phase") == "Bound")


def _get_path(value: Any, *names: str) -> Any:
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # The wire allows infinity and NaN, which are no counts.
    return int(value) if abs(value) < float("inf") else None


def _count(observed: Object, name: str) -> int | None:
    return _number(_get_path(observed, "status", name))


def _replicas(observed: Object) -> int:
    replicas = _number(_get_path(observed, "spec", "replicas"))
    return 1 if replicas is None else replicas


def _conditions(observed: Object) -> dict[Any, Any]:
    """Statuses by type; True wins where a type repeats."""
    statuses: dict[Any, Any] = {}
    for kind, status in conditions(observed.get("status")):
        if statuses.get(kind) != "True":
            statuses[kind] = status
    return statuses


CHECKS: dict[tuple[Any, Any], HealthCheck] = {
    ("v1", "ConfigMap"): always_ready,
    ("v1", "Namespace"): always_ready,
    ("v1", "Secret"): always_ready,
    ("v1", "ServiceAccount"): always_ready,
    ("v1", "PersistentVolumeClaim"): persistent_volume_claim,
    ("v1", "Pod"): pod,
    ("v1", "Service"): service,
    ("apps/v1", "DaemonSet"): daemon_set,
    ("apps/v1", "Deployment"): deployment,
    ("apps/v1", "ReplicaSet"): replica_set,
    ("apps/v1", "StatefulSet"): stateful_set,
    ("autoscaling/v2", "HorizontalPodAutoscaler"): horizontal_pod_autoscaler,
    ("batch/v1", "CronJob"): cron_job,
    ("batch/v1", "Job"): job,
    ("networking.k8s.io/v1", "Ingress"): ingress,
}


_CONDITION_FIELDS = frozenset(
    ("type", "status", "reason", "message", "lastTransitionTime", "observedGeneration")
)


def has_ready_condition(observed: Object) -> bool:
    """Whether the first condition of type Ready has the status True."""
    for kind, status in conditions(observed.get("status")):
        if kind == "Ready":
            return bool(status == "True")
    return False


def conditions(status: Any) -> list[tuple[Any, Any]]:
    """The type and status of each condition; empty when any of them is malformed."""
    raw_conditions = status.get("conditions") if isinstance(status, dict) else None
    if not isinstance(raw_conditions, list):
        return []
    read = []
    for condition in raw_conditions:
        if isinstance(condition, dict):
            if not _is_condition(condition):
                return []
            read.append((condition.get("type"), condition.get("status")))
        elif condition is not None:
            return []
    return read


def _is_condition(value: Object) -> bool:
    for name, item in value.items():
        if item.__class__ is str:
            if name == "observedGeneration" or (name == "lastTransitionTime" and timestamp_key(item) is None):
                return False
        elif (
            item is not None
            and name in _CONDITION_FIELDS
            and not (name == "observedGeneration" and is_integer(item))
        ):
            return False
    return True


def is_integer(value: Any) -> bool:
    """Whether a value fits an optional integer field; on the wire every number is a double."""
    if value is None:
        return True
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)
