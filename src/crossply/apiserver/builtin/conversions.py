"""Converts built-in kinds between versions; most kinds have only one."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.served_resources import Resource
from crossply.values import Object
from crossply.values.gojson import JsonError, dumps, loads

CORE, EVENTS = "v1", "events.k8s.io/v1"

_NAMES = (
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("count", "deprecatedCount"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("reportingComponent", "reportingController"),
)
_TO_CORE = {new: old for old, new in _NAMES}
_TO_EVENTS = dict(_NAMES)


def to_core(event: Object) -> Object:
    """The event in the core group's form."""
    return _renamed(event, EVENTS, CORE, _TO_CORE)


def to_events(event: Object) -> Object:
    """The event in the form of events.k8s.io."""
    return _renamed(event, CORE, EVENTS, _TO_EVENTS)


def _renamed(event: Object, source: str, target: str, names: dict[str, str]) -> Object:
    if event.get("apiVersion") != source:
        return event
    return {**{names.get(key, key): value for key, value in event.items()}, "apiVersion": target}


V1, V2 = "autoscaling/v1", "autoscaling/v2"

_PREFIX = "autoscaling.alpha.kubernetes.io/"
DEFAULT_CPU = 80
_CARRIED = (
    (f"{_PREFIX}behavior", "spec", "behavior"),
    (f"{_PREFIX}conditions", "status", "conditions"),
    (f"{_PREFIX}current-metrics", "status", "currentMetrics"),
)
METRICS = f"{_PREFIX}metrics"
"""The annotation in which v1 keeps metrics that it does not support."""


def cpu_metric(percent: int) -> Object:
    """The metric that v1 calls targetCPUUtilizationPercentage."""
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def to_v2(obj: Object) -> Object:
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
    others = [metric for metric in metrics if _percent([metric], "target") is None]
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
            utilization: int | None = (resource.get(part) or {}).get("averageUtilization")
            return utilization
    return None


def _unpacked(text: Any) -> Any:
    if not isinstance(text, str):
        return None
    try:
        return loads(text)
    except JsonError:
        return None


def converted(resource: Resource, obj: Object, version: str) -> Object:
    """The object at a resource and version; the same object if it is there already."""
    kind = resource.names.kind
    if kind == "Event":
        return to_events(obj) if resource.group else to_core(obj)
    if kind == "HorizontalPodAutoscaler":
        return to_v1(obj) if version == "v1" else to_v2(obj)
    return obj
