"""When an object is ready: Kubernetes' own kinds by a rule each, any other by its `Ready` condition.

Part of auto-ready; the table at the end names every kind that has a rule. Two manners of reading appear
below. Deployment, StatefulSet, DaemonSet, Service and Ingress look at single fields and pass over the rest.
The others read as a typed client would, where a field of the wrong type spoils the object: it is not healthy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.timestamps import instant
from crossply.values import Object

HealthCheck = Callable[[Object], bool]

_SPOILED_AUTOSCALERS = ("FailedGetScale", "FailedUpdateScale", "FailedGetResourceMetric", "InvalidSelector")


def is_ready(observed: Object) -> bool:
    """Whether an object passes the check of its kind, or has the condition `Ready: True`."""
    check = health_check(observed)
    return (check is not None and check(observed)) or has_ready_condition(observed)


def health_check(observed: Object) -> HealthCheck | None:
    """The rule for an object's kind, if there is one."""
    try:
        return CHECKS.get((observed.get("apiVersion"), observed.get("kind")))
    except TypeError:  # a list or an object where a name should be
        return None


def exists(_: Object) -> bool:
    """A kind without a life of its own: it is ready as soon as it is there."""
    return True


def deployment(observed: Object) -> bool:
    """Every replica is updated and available, and the deployment says so."""
    wanted = _replicas(observed)
    if _count(observed, "updatedReplicas") != wanted or _count(observed, "availableReplicas") != wanted:
        return False
    found = _dig(observed, "status", "conditions")
    return isinstance(found, list) and any(
        isinstance(each, dict) and each.get("type") == "Available" and each.get("status") == "True"
        for each in found
    )


def stateful_set(observed: Object) -> bool:
    """Every replica is ready and at the revision that is rolled out."""
    wanted = _replicas(observed)
    if _count(observed, "readyReplicas") != wanted or _count(observed, "currentReplicas") != wanted:
        return False
    current = _dig(observed, "status", "currentRevision")
    return isinstance(current, str) and current == _dig(observed, "status", "updateRevision")


def daemon_set(observed: Object) -> bool:
    """Every node that should run the pod runs the current one, ready and available."""
    wanted = _count(observed, "desiredNumberScheduled")
    return (
        wanted is not None
        and _count(observed, "numberReady") == wanted
        and _count(observed, "updatedNumberScheduled") == wanted
        and _count(observed, "numberAvailable") == wanted
    )


def replica_set(observed: Object) -> bool:
    """The controller has seen the current spec, no replica failed, and enough are available."""
    numbers = (
        _dig(observed, "metadata", "generation"),
        _dig(observed, "status", "observedGeneration"),
        _dig(observed, "spec", "replicas"),
        _dig(observed, "status", "availableReplicas"),
    )
    if not all(map(is_whole, numbers)) or _conditions(observed).get("ReplicaFailure") == "True":
        return False
    generation, seen, wanted, available = numbers
    return (seen or 0) >= (generation or 0) and (available or 0) >= (1 if wanted is None else wanted)


def pod(observed: Object) -> bool:
    """The pod has succeeded, or it is one that runs for ever and reports that it is ready."""
    phase = _dig(observed, "status", "phase")
    if phase == "Succeeded":
        return True
    if phase != "Running" or _dig(observed, "spec", "restartPolicy") != "Always":
        return False
    return ("Ready", "True") in conditions(observed.get("status"))


def service(observed: Object) -> bool:
    """A load balancer has an address; any other service is ready at once."""
    return _dig(observed, "spec", "type") != "LoadBalancer" or ingress(observed)


def ingress(observed: Object) -> bool:
    """The load balancer has an address."""
    addresses = _dig(observed, "status", "loadBalancer", "ingress")
    return isinstance(addresses, list) and bool(addresses)


def job(observed: Object) -> bool:
    """The job is complete; the first verdict among its conditions counts."""
    for kind, status in conditions(observed.get("status")):
        if status == "True" and kind in ("Failed", "Suspended", "Complete"):
            return bool(kind == "Complete")
    return False


def cron_job(observed: Object) -> bool:
    """Suspended, running now, or its last run succeeded."""
    if _dig(observed, "spec", "suspend") is True:
        return True
    scheduled = _dig(observed, "status", "lastScheduleTime")
    last = instant(scheduled) if isinstance(scheduled, str) else None
    if last is None:
        return False
    active = _dig(observed, "status", "active")
    if isinstance(active, list) and active:
        return True
    succeeded = _dig(observed, "status", "lastSuccessfulTime")
    success = instant(succeeded) if isinstance(succeeded, str) else None
    return success is not None and success >= last


def horizontal_pod_autoscaler(observed: Object) -> bool:
    """The autoscaler works or has reached its limit; the first verdict among its conditions counts."""
    for kind, status in conditions(observed.get("status")):
        if status == "True" and kind in _SPOILED_AUTOSCALERS:
            return False
        if status == "True" and kind in ("ScalingActive", "ScalingLimited"):
            return True
    return False


def persistent_volume_claim(observed: Object) -> bool:
    """The claim has its volume."""
    return bool(_dig(observed, "status", "phase") == "Bound")


def _dig(value: Any, *names: str) -> Any:
    """The value under nested names, or None."""
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Infinity and NaN are numbers on the wire, but they count nothing.
    return int(value) if abs(value) < float("inf") else None


def _count(observed: Object, name: str) -> int | None:
    return _number(_dig(observed, "status", name))


def _replicas(observed: Object) -> int:
    wanted = _number(_dig(observed, "spec", "replicas"))
    return 1 if wanted is None else wanted


def _conditions(observed: Object) -> dict[Any, Any]:
    """Statuses by type; where a type repeats, one that is True wins."""
    statuses: dict[Any, Any] = {}
    for kind, status in conditions(observed.get("status")):
        if statuses.get(kind) != "True":
            statuses[kind] = status
    return statuses


CHECKS: dict[tuple[Any, Any], HealthCheck] = {
    ("v1", "ConfigMap"): exists,
    ("v1", "Namespace"): exists,
    ("v1", "Secret"): exists,
    ("v1", "ServiceAccount"): exists,
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


_MEMBERS = frozenset(("type", "status", "reason", "message", "lastTransitionTime", "observedGeneration"))


def has_ready_condition(observed: Object) -> bool:
    """Whether the first condition of type Ready has the status True."""
    for kind, status in conditions(observed.get("status")):
        if kind == "Ready":
            return bool(status == "True")
    return False


def conditions(status: Any) -> list[tuple[Any, Any]]:
    """The type and status of each condition in a status; none when one of them is malformed."""
    found = status.get("conditions") if isinstance(status, dict) else None
    if not isinstance(found, list):
        return []
    read = []
    for each in found:
        if isinstance(each, dict):
            if not _is_condition(each):
                return []
            read.append((each.get("type"), each.get("status")))
        elif each is not None:
            return []
    return read


def _is_condition(value: Object) -> bool:
    for name, item in value.items():
        if item.__class__ is str:
            if name == "observedGeneration" or (name == "lastTransitionTime" and instant(item) is None):
                return False
        elif item is not None and name in _MEMBERS and not (name == "observedGeneration" and is_whole(item)):
            return False
    return True


def is_whole(value: Any) -> bool:
    """Whether a value fits an optional integer field; on the wire every number is a double."""
    if value is None:
        return True
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)
