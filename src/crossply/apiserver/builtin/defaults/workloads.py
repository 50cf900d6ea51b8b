"""Defaults of workloads, Jobs and autoscalers."""

from __future__ import annotations

from crossply.apiserver.builtin.conversions import DEFAULT_CPU, METRICS, cpu_metric
from crossply.apiserver.builtin.defaults.pods import setting
from crossply.values import Object

_APPS = "io.k8s.api.apps.v1"
_ROLLING = "RollingUpdate"
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def _deployment_spec(spec: Object) -> None:
    spec.setdefault("replicas", 1)
    strategy = spec["strategy"]
    strategy.setdefault("type", _ROLLING)
    if strategy["type"] == _ROLLING:
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)


def _daemon_set_spec(spec: Object) -> None:
    strategy = spec["updateStrategy"]
    strategy.setdefault("type", _ROLLING)
    if strategy["type"] == _ROLLING:
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)


def _stateful_set_spec(spec: Object) -> None:
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec["updateStrategy"]
    if "type" not in strategy:
        strategy["type"] = _ROLLING
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == _ROLLING and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)


def _stateful_set(obj: Object) -> None:
    for claim in obj["spec"].get("volumeClaimTemplates") or ():
        # A volumeClaimTemplate is a complete claim, with its kind.
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")


def _replication_controller(obj: Object) -> None:
    labels = ((obj["spec"].get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        obj["spec"].setdefault("selector", dict(labels))
        obj["metadata"].setdefault("labels", dict(labels))


def _daemon_set(obj: Object) -> None:
    """The deprecated annotation that counts generations of the template."""
    annotations = obj["metadata"].get("annotations") or {}
    obj["metadata"]["annotations"] = {TEMPLATE_GENERATION: "0", **annotations}


DEFAULTS = {
    f"{_APPS}.DeploymentSpec": _deployment_spec,
    f"{_APPS}.DaemonSet": _daemon_set,
    f"{_APPS}.DaemonSetSpec": _daemon_set_spec,
    f"{_APPS}.StatefulSetSpec": _stateful_set_spec,
    f"{_APPS}.StatefulSet": _stateful_set,
    f"{_APPS}.ReplicaSetSpec": setting(replicas=1),
    "io.k8s.api.core.v1.ReplicationController": _replication_controller,
}


_BATCH = "io.k8s.api.batch.v1"
_NO_LIMIT = 2**31 - 1


def _job(job: Object) -> None:
    spec = job["spec"]
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", _NO_LIMIT if "backoffLimitPerIndex" in spec else 6)
    labels = spec["template"]["metadata"].get("labels")
    if labels:
        job["metadata"].setdefault("labels", dict(labels))
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)


def _cron_job_spec(spec: Object) -> None:
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)


JOB_DEFAULTS = {
    f"{_BATCH}.Job": _job,
    f"{_BATCH}.CronJobSpec": _cron_job_spec,
    f"{_BATCH}.PodFailurePolicyOnPodConditionsPattern": setting(status="True"),
}


_V1, _V2 = "io.k8s.api.autoscaling.v1", "io.k8s.api.autoscaling.v2"
_PERIOD = 15


def _policy(kind: str, value: int) -> Object:
    return {"type": kind, "value": value, "periodSeconds": _PERIOD}


def _spec(spec: Object) -> None:
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        spec["metrics"] = [cpu_metric(DEFAULT_CPU)]
    behavior = spec.get("behavior")
    if behavior is None:
        return
    up = {"selectPolicy": "Max", "policies": [_policy("Pods", 4), _policy("Percent", 100)]}
    behavior["scaleUp"] = {"stabilizationWindowSeconds": 0, **up, **(behavior.get("scaleUp") or {})}
    down = {"selectPolicy": "Max", "policies": [_policy("Percent", 100)]}
    behavior["scaleDown"] = {**down, **(behavior.get("scaleDown") or {})}


def _autoscaler_v1(autoscaler: Object) -> None:
    """Without metrics, here or in the annotations, the target is a CPU utilization."""
    if METRICS not in (autoscaler["metadata"].get("annotations") or {}):
        autoscaler["spec"].setdefault("targetCPUUtilizationPercentage", DEFAULT_CPU)


SCALING_DEFAULTS = {
    f"{_V1}.HorizontalPodAutoscaler": _autoscaler_v1,
    f"{_V1}.HorizontalPodAutoscalerSpec": setting(minReplicas=1),
    f"{_V2}.HorizontalPodAutoscalerSpec": _spec,
}
