"""The CRDs of Operations, CronOperations and WatchOperations. Their steps are those of Compositions."""

from __future__ import annotations

from crossply.control.definitions.cluster_scoped_crd_template import cluster_crd
from crossply.control.definitions.core_crds import composition_pipeline
from crossply.control.kinds import CRON_OPERATION, OPERATION, WATCH_OPERATION
from crossply.kube.kind import Kind
from crossply.schema.crd_crossplane_fields import (
    age_column,
    choice,
    column,
    conditions,
    name_ref,
    text,
    texts,
)
from crossply.values import Object

_INT64: Object = {"type": "integer", "format": "int64"}
_INT32: Object = {"type": "integer", "format": "int32"}
_TIME: Object = {"type": "string", "format": "date-time"}
_ANYTHING: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def operation_crds() -> list[Object]:
    """All three."""
    return [_operation(), _cron_operation(), _watch_operation()]


def _operation() -> Object:
    step = {"type": "object", "required": ["step"], "properties": {"step": text(), "output": _ANYTHING}}
    applied = texts("apiVersion", "kind", "name", "namespace", required=("apiVersion", "kind", "name"))
    status = {
        "failures": _INT64,
        "pipeline": {"type": "array", "items": step},
        "appliedResourceRefs": {"type": "array", "items": applied},
    }
    columns = [_condition("Synced"), _condition("Succeeded"), age_column()]
    return _crd(OPERATION, "ops", _operation_spec(), status, columns)


def _operation_spec() -> Object:
    return {
        "type": "object",
        "required": ["mode", "pipeline"],
        "properties": {
            "mode": choice("Pipeline", default="Pipeline"),
            "pipeline": composition_pipeline(),
            "retryLimit": _INT64,
        },
    }


def _cron_operation() -> Object:
    properties = {"schedule": text(), "startingDeadlineSeconds": _INT64, **_making()}
    spec = {"type": "object", "required": ["operationTemplate", "schedule"], "properties": properties}
    columns = [
        column("SCHEDULE", ".spec.schedule"),
        _condition("Synced"),
        _condition("Scheduling"),
        *_times(),
        age_column(),
    ]
    return _crd(CRON_OPERATION, "cronops", spec, _history(), columns)


def _watch_operation() -> Object:
    immutable = {
        name: {
            **text(),
            "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": f"{name} is immutable"}],
        }
        for name in ("apiVersion", "kind")
    }
    watched = {
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": {
            **immutable,
            "matchLabels": {"type": "object", "additionalProperties": text()},
            "namespace": text(),
        },
    }
    properties = {"watch": watched, **_making()}
    spec = {"type": "object", "required": ["operationTemplate", "watch"], "properties": properties}
    columns = [
        column("KIND", ".spec.watch.kind"),
        {**column("COUNT", ".status.watchingResources"), "type": "integer"},
        _condition("Synced"),
        _condition("Watching"),
        *_times(),
        age_column(),
    ]
    return _crd(WATCH_OPERATION, "watchops", spec, {**_history(), "watchingResources": _INT64}, columns)


def _making() -> Object:
    """How both make Operations."""
    template = {
        "type": "object",
        "required": ["spec"],
        "properties": {"metadata": _ANYTHING, "spec": _operation_spec()},
    }
    return {
        "concurrencyPolicy": choice("Allow", "Forbid", "Replace", default="Allow"),
        "successfulHistoryLimit": {**_INT32, "default": 3},
        "failedHistoryLimit": {**_INT32, "default": 1},
        "operationTemplate": template,
    }


def _history() -> Object:
    return {
        "lastScheduleTime": _TIME,
        "lastSuccessfulTime": _TIME,
        "runningOperationRefs": {"type": "array", "items": name_ref()},
    }


def _times() -> list[Object]:
    return [
        {**column("LAST SCHEDULE", ".status.lastScheduleTime"), "type": "date"},
        {**column("LAST SUCCESS", ".status.lastSuccessfulTime"), "type": "date"},
    ]


def _condition(name: str) -> Object:
    return column(name.upper(), f".status.conditions[?(@.type=='{name}')].status")


def _crd(kind: Kind, short: str, spec: Object, status: Object, columns: list[Object]) -> Object:
    properties = {
        "spec": spec,
        "status": {"type": "object", "properties": {"conditions": conditions(), **status}},
    }
    return cluster_crd(kind, {"type": "object", "properties": properties}, columns, short_name=short)
