"""HorizontalPodAutoscalers have two versions; v1 knows the CPU only and carries the rest in annotations."""

from __future__ import annotations

from typing import Any

from crossply.values import Object
from crossply.values.gojson import JsonError, dumps, loads

V1, V2 = "autoscaling/v1", "autoscaling/v2"

_PREFIX = "autoscaling.alpha.kubernetes.io/"
DEFAULT_CPU = 80
_CARRIED = (
    (f"{_PREFIX}behavior", "spec", "behavior"),
    (f"{_PREFIX}conditions", "status", "conditions"),
    (f"{_PREFIX}current-metrics", "status", "currentMetrics"),
)
METRICS = f"{_PREFIX}metrics"
"""The annotation in which v1 carries metrics that it does not know."""


def cpu_metric(percent: int) -> Object:
    """The metric that v1 calls targetCPUUtilizationPercentage."""
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def to_v2(obj: Object) -> Object:
    """The autoscaler as v2 has it."""
    if obj.get("apiVersion") != V1:
        return obj
    metadata = dict(obj.get("metadata") or {})
    annotations = dict(metadata.get("annotations") or {})
    spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
    for key, part, field in _CARRIED:
        value = _unpacked(annotations.pop(key, None))
        if value:
            (spec if part == "spec" else status)[field] = value
    metrics = _unpacked(annotations.pop(METRICS, None)) or []
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    if percent is not None:
        metrics = [*metrics, cpu_metric(percent)]
    spec["metrics"] = metrics or [cpu_metric(DEFAULT_CPU)]
    status.pop("currentCPUUtilizationPercentage", None)
    status.setdefault("currentMetrics", None)
    return _assembled(obj, V2, metadata, annotations, spec, status)


def to_v1(obj: Object) -> Object:
    """The autoscaler as v1 has it."""
    if obj.get("apiVersion") != V2:
        return obj
    metadata = dict(obj.get("metadata") or {})
    annotations = dict(metadata.get("annotations") or {})
    spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
    current = _percent(status.get("currentMetrics") or (), "current")
    for key, part, field in _CARRIED:
        value = (spec if part == "spec" else status).pop(field, None)
        if value:
            annotations[key] = dumps(value)
    metrics = spec.pop("metrics", None) or []
    percent = _percent(metrics, "target")
    if percent is not None:
        spec["targetCPUUtilizationPercentage"] = percent
    others = [each for each in metrics if _percent([each], "target") is None]
    if others:
        annotations[METRICS] = dumps(others)
    if current is not None:
        status["currentCPUUtilizationPercentage"] = current
    status.setdefault("currentReplicas", 0)
    return _assembled(obj, V1, metadata, annotations, spec, status)


def _assembled(
    obj: Object, version: str, metadata: Object, annotations: Object, spec: Object, status: Object
) -> Object:
    metadata.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    return {**obj, "apiVersion": version, "metadata": metadata, "spec": spec, "status": status}


def _percent(metrics: Any, part: str) -> int | None:
    for metric in metrics:
        resource = metric.get("resource") or {}
        if metric.get("type") == "Resource" and resource.get("name") == "cpu":
            found: int | None = (resource.get(part) or {}).get("averageUtilization")
            return found
    return None


def _unpacked(text: Any) -> Any:
    if not isinstance(text, str):
        return None
    try:
        return loads(text)
    except JsonError:
        return None
