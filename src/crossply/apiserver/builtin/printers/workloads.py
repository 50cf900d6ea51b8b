"""The cells of workloads."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from crossply.apiserver.builtin.printers.metadata import (
    age_of,
    container_cells,
    is_going,
    labels_text,
    name_of,
    selector_or_none,
    selector_text,
)
from crossply.apiserver.tables.human_duration import human_duration, since
from crossply.values import Object
from crossply.values.api_version import api_group
from crossply.values.timestamps import parse_timestamp

_JOB_STATES = (
    ("Complete", "Complete"),
    ("Failed", "Failed"),
    ("", "Terminating"),
    ("Suspended", "Suspended"),
    ("FailureTarget", "FailureTarget"),
    ("SuccessCriteriaMet", "SuccessCriteriaMet"),
)


def _parts(obj: Object) -> tuple[Object, Object]:
    return obj.get("spec") or {}, obj.get("status") or {}


def _count(status: Object, key: str) -> int:
    return int(status.get(key) or 0)


def _deployment(obj: Object, now: datetime) -> list[Any]:
    spec, status = _parts(obj)
    return [
        name_of(obj),
        f"{_count(status, 'readyReplicas')}/{_count(spec, 'replicas')}",
        _count(status, "updatedReplicas"),
        _count(status, "availableReplicas"),
        age_of(obj, now),
        *container_cells(spec.get("template")),
        selector_text(spec.get("selector") or {}),
    ]


def _replica_cells(obj: Object, now: datetime, selector: str) -> list[Any]:
    spec, status = _parts(obj)
    return [
        name_of(obj),
        _count(spec, "replicas"),
        _count(status, "replicas"),
        _count(status, "readyReplicas"),
        age_of(obj, now),
        *container_cells(spec.get("template")),
        selector,
    ]


def _replica_set(obj: Object, now: datetime) -> list[Any]:
    return _replica_cells(obj, now, selector_or_none(_parts(obj)[0].get("selector")))


def _replication_controller(obj: Object, now: datetime) -> list[Any]:
    return _replica_cells(obj, now, labels_text(_parts(obj)[0].get("selector")))


def _stateful_set(obj: Object, now: datetime) -> list[Any]:
    spec, status = _parts(obj)
    ready = f"{_count(status, 'readyReplicas')}/{_count(spec, 'replicas')}"
    return [name_of(obj), ready, age_of(obj, now), *container_cells(spec.get("template"))]


def _daemon_set(obj: Object, now: datetime) -> list[Any]:
    spec, status = _parts(obj)
    nodes = ((spec.get("template") or {}).get("spec") or {}).get("nodeSelector")
    counts = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return [
        name_of(obj),
        *(_count(status, key) for key in counts),
        labels_text(nodes),
        age_of(obj, now),
        *container_cells(spec.get("template")),
        selector_or_none(spec.get("selector")),
    ]


def _job(obj: Object, now: datetime) -> list[Any]:
    spec, status = _parts(obj)
    return [
        name_of(obj),
        _job_state(obj, status),
        _completions(spec, status),
        _duration(status, now),
        age_of(obj, now),
        *container_cells(spec.get("template")),
        selector_or_none(spec.get("selector")),
    ]


def _job_state(obj: Object, status: Object) -> str:
    conditions = {
        condition.get("type"): condition.get("status") for condition in status.get("conditions") or ()
    }
    for kind, state in _JOB_STATES:
        if conditions.get(kind) == "True" or (not kind and is_going(obj)):
            return state
    return "Running"


def _completions(spec: Object, status: Object) -> str:
    succeeded = _count(status, "succeeded")
    if spec.get("completions") is not None:
        return f"{succeeded}/{spec['completions']}"
    parallel = _count(spec, "parallelism")
    return f"{succeeded}/1 of {parallel}" if parallel > 1 else f"{succeeded}/1"


def _duration(status: Object, now: datetime) -> str:
    start = parse_timestamp(status.get("startTime"))
    if start is None:
        return ""
    end = parse_timestamp(status.get("completionTime")) or now
    return human_duration((end - start).total_seconds())


def _cron_job(obj: Object, now: datetime) -> list[Any]:
    spec, status = _parts(obj)
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    last = status.get("lastScheduleTime")
    return [
        name_of(obj),
        spec.get("schedule", ""),
        spec.get("timeZone", "<none>"),
        _flag(spec.get("suspend")),
        len(status.get("active") or ()),
        since(last, now) if last else "<none>",
        age_of(obj, now),
        *container_cells(job.get("template")),
        selector_or_none(job.get("selector")),
    ]


def _flag(value: bool | None) -> str:
    return "<unset>" if value is None else str(value).capitalize()


def _pod_template(obj: Object, now: datetime) -> list[Any]:
    template = obj.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels")
    return [name_of(obj), *container_cells(template), labels_text(labels)]


def _revision(obj: Object, now: datetime) -> list[Any]:
    owners = (obj.get("metadata") or {}).get("ownerReferences") or ()
    owner = next((owner for owner in owners if owner.get("controller")), None)
    shown = "<none>"
    if owner:
        group = api_group(owner["apiVersion"])
        shown = f"{owner['kind'].lower()}{'.' if group else ''}{group}/{owner['name']}"
    return [name_of(obj), shown, obj.get("revision", 0), age_of(obj, now)]


CELLS = {
    ("apps", "deployments"): _deployment,
    ("apps", "replicasets"): _replica_set,
    ("apps", "statefulsets"): _stateful_set,
    ("apps", "daemonsets"): _daemon_set,
    ("apps", "controllerrevisions"): _revision,
    ("batch", "jobs"): _job,
    ("batch", "cronjobs"): _cron_job,
    ("", "replicationcontrollers"): _replication_controller,
    ("", "podtemplates"): _pod_template,
}
