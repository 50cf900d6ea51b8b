"""Defaults of HorizontalPodAutoscalers."""

from __future__ import annotations

from crossply.apiserver.builtin.autoscaler_conversion import DEFAULT_CPU, METRICS, cpu_metric
from crossply.apiserver.builtin.defaults.pods import setting
from crossply.values import Object

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


def _version_one(autoscaler: Object) -> None:
    """Without a metric, here or in the annotations, the aim is a share of the CPU."""
    if METRICS not in (autoscaler["metadata"].get("annotations") or {}):
        autoscaler["spec"].setdefault("targetCPUUtilizationPercentage", DEFAULT_CPU)


DEFAULTS = {
    f"{_V1}.HorizontalPodAutoscaler": _version_one,
    f"{_V1}.HorizontalPodAutoscalerSpec": setting(minReplicas=1),
    f"{_V2}.HorizontalPodAutoscalerSpec": _spec,
}
