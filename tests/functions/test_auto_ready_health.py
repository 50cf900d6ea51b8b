"""The rules by which auto-ready calls Kubernetes' own kinds ready, and the timestamps they compare."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.functions.builtin.auto_ready.health import is_ready
from crossply.functions.builtin.timestamps import timestamp_key


def native(api_version: str, kind: str, **rest: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, **rest}


def deployment(**status: Any) -> dict[str, Any]:
    full = {
        "updatedReplicas": 3.0,
        "availableReplicas": 3.0,
        "conditions": [{"type": "Available", "status": "True"}],
    }
    return native("apps/v1", "Deployment", spec={"replicas": 3.0}, status={**full, **status})


def stateful_set(**status: Any) -> dict[str, Any]:
    full = {"readyReplicas": 1.0, "currentReplicas": 1.0, "currentRevision": "a", "updateRevision": "a"}
    return native("apps/v1", "StatefulSet", spec={}, status={**full, **status})


def daemon_set(**status: Any) -> dict[str, Any]:
    names = ("desiredNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable")
    return native("apps/v1", "DaemonSet", status={**dict.fromkeys(names, 2.0), **status})


def replica_set(generation: float = 1.0, **status: Any) -> dict[str, Any]:
    full = {"observedGeneration": 1.0, "availableReplicas": 2.0}
    return native(
        "apps/v1",
        "ReplicaSet",
        metadata={"generation": generation},
        spec={"replicas": 2.0},
        status={**full, **status},
    )


def pod(phase: str, policy: str = "Always", ready: str = "True") -> dict[str, Any]:
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]}
    return native("v1", "Pod", spec={"restartPolicy": policy}, status=status)


def service(kind: str, *addresses: Any) -> dict[str, Any]:
    return native("v1", "Service", spec={"type": kind}, status={"loadBalancer": {"ingress": list(addresses)}})


def with_conditions(api_version: str, kind: str, **statuses: str) -> dict[str, Any]:
    conditions = [{"type": name, "status": status} for name, status in statuses.items()]
    return native(api_version, kind, status={"conditions": conditions})


def cron_job(suspend: bool = False, **status: Any) -> dict[str, Any]:
    return native("batch/v1", "CronJob", spec={"suspend": suspend}, status=status)


NOON, LATER = "2024-05-01T12:00:00Z", "2024-05-01T12:00:01Z"

HEALTH = [
    (native("v1", "ConfigMap"), True, "it exists"),
    (native("v1", "Secret"), True, "it exists"),
    (native("v1", "ServiceAccount"), True, "it exists"),
    (native("v1", "Namespace"), True, "it exists"),
    (native("v2", "Secret"), False, "a rule holds for one version"),
    (native("rbac.authorization.k8s.io/v1", "Role"), False, "a kind without a rule needs the condition"),
    (deployment(), True, "all replicas are updated and available"),
    (deployment(updatedReplicas=2.0), False, "an old replica is left"),
    (deployment(availableReplicas=None), False, "no count of available replicas"),
    (deployment(conditions=[{"type": "Available", "status": "False"}]), False, "it says it is not available"),
    (
        deployment(conditions=[7.0, {"type": "Available", "status": "True"}]),
        True,
        "it looks at single fields",
    ),
    (deployment(conditions="none"), False, "conditions are a list"),
    (stateful_set(), True, "one replica is wanted when the spec does not say"),
    (stateful_set(readyReplicas=0.0), False, "the replica is not ready"),
    (stateful_set(updateRevision="b"), False, "the roll-out is under way"),
    (stateful_set(currentRevision=None, updateRevision=None), False, "there is no revision yet"),
    (daemon_set(), True, "all nodes run the current pod"),
    (daemon_set(numberAvailable=1.0), False, "one pod is not available"),
    (daemon_set(desiredNumberScheduled=None), False, "the controller has not counted yet"),
    (replica_set(), True, "enough replicas are available"),
    (replica_set(availableReplicas=3.0), True, "more than enough is enough"),
    (replica_set(generation=2.0), False, "the controller has not seen the newest spec"),
    (replica_set(availableReplicas="2"), False, "a count is a number"),
    (
        replica_set(conditions=[{"type": "ReplicaFailure", "status": "True"}]),
        False,
        "a replica could not be created",
    ),
    (pod("Succeeded", ready="False"), True, "a pod that has succeeded needs no condition"),
    (pod("Running"), True, "it runs and is ready"),
    (pod("Running", ready="False"), False, "it runs but is not ready"),
    (pod("Pending", ready="False"), False, "it does not run yet"),
    (
        pod("Running", policy="Never"),
        True,
        "a pod that ends is not healthy yet, but its condition says Ready",
    ),
    (service("ClusterIP"), True, "an internal service is ready at once"),
    (native("v1", "Service"), True, "a service is internal unless it says otherwise"),
    (service("LoadBalancer"), False, "no address yet"),
    (service("LoadBalancer", {"ip": "192.0.2.1"}), True, "the load balancer has an address"),
    (native("networking.k8s.io/v1", "Ingress"), False, "no address yet"),
    (
        native(
            "networking.k8s.io/v1", "Ingress", status={"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
        ),
        True,
        "the ingress has an address",
    ),
    (with_conditions("batch/v1", "Job", Complete="True"), True, "the job is done"),
    (with_conditions("batch/v1", "Job", Complete="False"), False, "the job is not done"),
    (with_conditions("batch/v1", "Job", Failed="True", Complete="True"), False, "the first verdict counts"),
    (with_conditions("batch/v1", "Job", Suspended="True"), False, "a suspended job waits"),
    (with_conditions("batch/v1", "Job", Suspended="False", Complete="True"), True, "it was resumed"),
    (cron_job(suspend=True), True, "suspended is what was asked for"),
    (cron_job(), False, "it has never been scheduled"),
    (cron_job(lastScheduleTime=NOON, active=[{"name": "run"}]), True, "a run is under way"),
    (cron_job(lastScheduleTime=NOON), False, "no run has succeeded"),
    (cron_job(lastScheduleTime=NOON, lastSuccessfulTime=NOON), True, "the last run succeeded at once"),
    (cron_job(lastScheduleTime=NOON, lastSuccessfulTime=LATER), True, "the last run succeeded"),
    (cron_job(lastScheduleTime=LATER, lastSuccessfulTime=NOON), False, "only an older run succeeded"),
    (cron_job(lastScheduleTime="noon", lastSuccessfulTime=NOON), False, "a time that cannot be read"),
    (with_conditions("autoscaling/v2", "HorizontalPodAutoscaler", ScalingActive="True"), True, "it scales"),
    (
        with_conditions("autoscaling/v2", "HorizontalPodAutoscaler", ScalingLimited="True"),
        True,
        "it is at a limit",
    ),
    (
        with_conditions("autoscaling/v2", "HorizontalPodAutoscaler", AbleToScale="True"),
        False,
        "it waits for metrics",
    ),
    (
        with_conditions(
            "autoscaling/v2", "HorizontalPodAutoscaler", FailedGetScale="True", ScalingActive="True"
        ),
        False,
        "a failure before the verdict counts",
    ),
    (native("v1", "PersistentVolumeClaim", status={"phase": "Bound"}), True, "it has its volume"),
    (native("v1", "PersistentVolumeClaim", status={"phase": "Pending"}), False, "it waits for a volume"),
]


@pytest.mark.parametrize(
    ("observed", "ready", "reason"), HEALTH, ids=[f"{row[0]['kind']}: {row[2]}" for row in HEALTH]
)
def test_a_kubernetes_kind_is_ready_by_its_own_rule(
    observed: dict[str, Any], ready: bool, reason: str
) -> None:
    assert is_ready(observed) is ready, reason


def test_a_failing_rule_leaves_the_ready_condition_to_others() -> None:
    unfinished = deployment(updatedReplicas=0.0, conditions=[{"type": "Ready", "status": "True"}])
    assert is_ready(unfinished)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-02-29T00:00:00Z", True),
        ("2023-02-29T00:00:00Z", False),
        ("2024-13-01T00:00:00Z", False),
        ("2024-01-01T24:00:00Z", False),
        ("2024-01-01 00:00:00Z", False),
        ("2024-01-01T00:00:00", False),
        ("2024-01-01T00:00:00.25Z", True),
        ("2024-01-01T00:00:00.Z", False),
        ("2024-01-01T00:00:00+02:00", True),
        ("2024-01-01T00:00:00+0200", False),
        ("٢٠٢٤-01-01T00:00:00Z", False),
    ],
)
def test_a_timestamp_is_rfc_3339(text: str, expected: bool) -> None:
    assert (timestamp_key(text) is not None) is expected


def test_timestamps_compare_by_time_not_by_spelling() -> None:
    spelled = [
        "2023-12-31T23:59:59Z",
        "2024-01-01T00:30:00+00:30",
        "2024-01-01T00:00:00.1Z",
        "2024-01-01T00:00:00.15Z",
        "2024-02-29T00:00:00Z",
        "2024-03-01T00:00:00Z",
    ]
    order = [timestamp_key(text) for text in spelled]
    assert order == sorted(order, key=lambda key: key or (0, ""))
    assert timestamp_key("2024-01-01T00:30:00+00:30") == timestamp_key("2024-01-01T00:00:00.000Z")
